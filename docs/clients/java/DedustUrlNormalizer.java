import org.apache.hadoop.conf.Configuration;
import org.apache.nutch.net.URLNormalizer;

/** Nutch: normalizes URLs in every scope. The server is the property `dedust.server` of nutch-site.xml. */
public class DedustUrlNormalizer implements URLNormalizer {
    private Configuration conf;
    private Dedust dedust = new Dedust("http://127.0.0.1:7007");

    @Override
    public String normalize(String url, String scope) {
        return dedust.normalizeOrKeep(url);
    }

    @Override
    public void setConf(Configuration conf) {
        this.conf = conf;
        dedust = new Dedust(conf.get("dedust.server", "http://127.0.0.1:7007"));
    }

    @Override
    public Configuration getConf() {
        return conf;
    }
}
