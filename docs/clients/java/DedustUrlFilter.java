import com.fasterxml.jackson.databind.JsonNode;
import java.net.URL;
import java.util.Map;
import org.apache.stormcrawler.Metadata;
import org.apache.stormcrawler.filtering.URLFilter;

/**
 * StormCrawler: rewrites outlinks to their canonical URLs. In urlfilters.json:
 * {"class": "DedustUrlFilter", "name": "dedust", "params": {"server": "http://127.0.0.1:7007"}}
 */
public class DedustUrlFilter extends URLFilter {
    private Dedust dedust = new Dedust("http://127.0.0.1:7007");

    @Override
    public void configure(Map<String, Object> stormConf, JsonNode params) {
        JsonNode server = params.get("server");
        if (server != null) {
            dedust = new Dedust(server.asText());
        }
    }

    @Override
    public String filter(URL sourceUrl, Metadata sourceMetadata, String urlToFilter) {
        return dedust.normalizeOrKeep(urlToFilter);
    }
}
