/**
 * `npm run manifests`: writes the parts of deploy/kubernetes that come from elsewhere, namely the alerts as an object of the Prometheus
 * Operator. test/deploy/kubernetes.test.ts fails if they are out of date.
 */
import { readFile, writeFile } from 'node:fs/promises';

export function writePrometheusRule(alerts: string): string {
  const groups = alerts.slice(alerts.indexOf('groups:'));
  const indented = groups.replaceAll(/^(?=.)/gm, '  ');
  return `# Written by \`npm run manifests\` from deploy/prometheus/alerts.yml, for the Prometheus Operator.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata: { name: daypass, labels: { app: daypass } }   # and those that your Prometheus selects, such as release: …
spec:
${indented}`;
}

if (import.meta.main) {
  const deploy = new URL('../deploy/', import.meta.url);
  const alerts = await readFile(new URL('prometheus/alerts.yml', deploy), 'utf8');
  await writeFile(new URL('kubernetes/prometheus-rule.yaml', deploy), writePrometheusRule(alerts));
}
