package org.apache.nutch.net;
import org.apache.hadoop.conf.Configuration;
/** Signatures alone, for the test. */
public interface URLNormalizer {
    String normalize(String url, String scope) throws java.net.MalformedURLException;
    void setConf(Configuration conf);
    Configuration getConf();
}
