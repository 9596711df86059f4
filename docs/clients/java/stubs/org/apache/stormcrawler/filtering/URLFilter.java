package org.apache.stormcrawler.filtering;
import com.fasterxml.jackson.databind.JsonNode;
import java.net.URL;
import java.util.Map;
import org.apache.stormcrawler.Metadata;
/** Signatures alone, for the test. */
public abstract class URLFilter {
    public void configure(Map<String, Object> stormConf, JsonNode params) {}
    public abstract String filter(URL sourceUrl, Metadata sourceMetadata, String urlToFilter);
}
