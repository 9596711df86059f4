package org.apache.stormcrawler;
/** Signature alone, for the test. */
public class Metadata {}
