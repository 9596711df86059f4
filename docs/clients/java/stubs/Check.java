import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.stormcrawler.Metadata;

/** Asks the server whose address is the first argument, by way of each snippet. */
public class Check {
    public static void main(String[] args) throws Exception {
        Dedust dedust = new Dedust(args[0]);
        expect(List.of("http://a.example/p", "", "http://b.example/?sid=1"),
            dedust.normalize(List.of("http://a.example/p?sid=1", "no URL", "http://b.example/?sid=1")));
        expect(List.of("http://a.example/p"), dedust.keys(List.of("http://a.example/p?sid=1")));
        expect(List.of("new", "seen"), dedust.seen(List.of("http://a.example/java?sid=1", "http://a.example/java")));
        DedustUrlFilter filter = new DedustUrlFilter();
        filter.configure(Map.of(), new JsonNode(Map.of("server", args[0]), null));
        expect("http://a.example/p", filter.filter(null, new Metadata(), "http://a.example/p?sid=1"));
        expect(null, filter.filter(null, new Metadata(), "no URL"));
        Configuration conf = new Configuration();
        conf.set("dedust.server", args[0]);
        DedustUrlNormalizer normalizer = new DedustUrlNormalizer();
        normalizer.setConf(conf);
        expect("http://a.example/p", normalizer.normalize("http://a.example/p?sid=1", "fetcher"));
        // Nobody listens on port 1.
        expect("http://a.example/p?sid=1", new Dedust("http://127.0.0.1:1").normalizeOrKeep("http://a.example/p?sid=1"));
    }

    private static void expect(Object expected, Object found) {
        if (!java.util.Objects.equals(expected, found)) {
            throw new AssertionError("expected " + expected + ", found " + found);
        }
    }
}
