import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;

/** Asks a server of `dedust serve`. Safe to be used by many threads. */
public final class Dedust {
    private final HttpClient http = HttpClient.newBuilder()
        .version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build();
    private final String server;

    /** @param server such as http://127.0.0.1:7007 */
    public Dedust(String server) {
        this.server = server;
    }

    /** A canonical URL for each URL; an empty text for what is no URL. At most 10,000 at a time. */
    public List<String> normalize(List<String> urls) throws IOException, InterruptedException {
        return ask("/v1/normalize", urls);
    }

    /** A key for each URL: equal keys, equal pages. */
    public List<String> keys(List<String> urls) throws IOException, InterruptedException {
        return ask("/v1/keys", urls);
    }

    /** `new`, `seen` or `error` for each URL. Those that are new count as seen from now on. */
    public List<String> seen(List<String> urls) throws IOException, InterruptedException {
        return ask("/v1/seen", urls);
    }

    /** The canonical URL; null for what is no URL, and the URL itself if the server cannot be asked. */
    public String normalizeOrKeep(String url) {
        try {
            String canonical = normalize(List.of(url)).get(0);
            return canonical.isEmpty() ? null : canonical;
        } catch (InterruptedException error) {
            Thread.currentThread().interrupt();
            return url;
        } catch (IOException error) {
            System.err.println("dedust: " + error.getMessage() + "; going on with " + url);
            return url;
        }
    }

    private List<String> ask(String path, List<String> urls) throws IOException, InterruptedException {
        // A line break would make two lines of one URL.
        List<String> lines = urls.stream().map(url -> url.replaceAll("[\r\n]", "")).toList();
        HttpRequest request = HttpRequest.newBuilder(URI.create(server + path))
            .timeout(Duration.ofSeconds(30))
            .header("Content-Type", "text/plain; charset=utf-8")
            .POST(HttpRequest.BodyPublishers.ofString(String.join("\n", lines) + "\n"))
            .build();
        HttpResponse<String> response = http.send(request, HttpResponse.BodyHandlers.ofString());
        if (response.statusCode() != 200) {
            throw new IOException(path + ": " + response.statusCode() + " " + response.body());
        }
        List<String> answers = response.body().lines().toList();
        if (answers.size() != urls.size()) {
            throw new IOException(path + ": " + answers.size() + " answers to " + urls.size() + " URLs");
        }
        return answers;
    }
}
