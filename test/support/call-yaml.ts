/** No call reaches the limits. `upstreams` and `models` are lines of their sections. */
export function callYaml(upstreams: readonly string[], models: readonly string[]): string {
  return `
pipeline:
  - auth
  - plan
  - rate-limit: { limit: 100000, period: 1, burst: 100000, concurrent: 1000 }
  - format
  - upstream
  - log
upstreams:
${upstreams.join('\n')}
models:
${models.join('\n')}
`;
}
