package com.fasterxml.jackson.databind;
/** An object of texts, for the test. */
public class JsonNode {
    private final java.util.Map<String, String> texts;
    private final String text;
    public JsonNode(java.util.Map<String, String> texts, String text) { this.texts = texts; this.text = text; }
    public JsonNode get(String name) { return texts.containsKey(name) ? new JsonNode(java.util.Map.of(), texts.get(name)) : null; }
    public String asText() { return text; }
}
