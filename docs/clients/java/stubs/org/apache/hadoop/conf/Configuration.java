package org.apache.hadoop.conf;
/** Some properties, for the test. */
public class Configuration {
    private final java.util.Map<String, String> values = new java.util.HashMap<>();
    public void set(String name, String value) { values.put(name, value); }
    public String get(String name, String otherwise) { return values.getOrDefault(name, otherwise); }
}
