/** Start of each line of the text format that begins with the name of a metric, in `# HELP` and `# TYPE` lines too. */
const beforeName = /^(?:# (?:HELP|TYPE) )?(?=[a-z])/gm;

/**
 * Puts the name of the service in front of every metric name: `daypass_requests_total`. Done at each scrape, so that
 * counts survive a renamed service.
 *
 * @param slug may contain hyphens and begin with a digit, which Prometheus does not accept in metric names
 */
export function prefixMetrics(text: string, slug: string): string {
  const prefix = slug.replaceAll('-', '_').replace(/^(?=\d)/, '_');
  return text.replace(beforeName, (start) => `${start}${prefix}_`);
}
