import { expect, it } from 'vitest';
import { mergeMetrics } from '#core/process/workers/merge-metrics.ts';

const of = (worker: number, requests: number) => ({
  worker,
  text: `# HELP daypass_requests_total Finished requests.
# TYPE daypass_requests_total counter
daypass_requests_total{model="a,b} c",status="200"} ${requests}

# HELP daypass_seconds Time.
# TYPE daypass_seconds histogram
daypass_seconds_bucket{le="+Inf"} ${requests}
daypass_seconds_sum ${requests}
daypass_empty{} 1
`,
});

it('each series names its worker, and each metric is described once', () => {
  expect(mergeMetrics([of(1, 3), of(2, 4)])).toBe(`# HELP daypass_requests_total Finished requests.
# TYPE daypass_requests_total counter
daypass_requests_total{worker="1",model="a,b} c",status="200"} 3
daypass_requests_total{worker="2",model="a,b} c",status="200"} 4
# HELP daypass_seconds Time.
# TYPE daypass_seconds histogram
daypass_seconds_bucket{worker="1",le="+Inf"} 3
daypass_seconds_sum{worker="1"} 3
daypass_empty{worker="1"} 1
daypass_seconds_bucket{worker="2",le="+Inf"} 4
daypass_seconds_sum{worker="2"} 4
daypass_empty{worker="2"} 1
`);
});

it('a metric that only one worker has is kept', () => {
  const text = '# TYPE daypass_late gauge\ndaypass_late 1\n';
  expect(mergeMetrics([of(1, 3), { worker: 2, text }])).toContain(
    '# TYPE daypass_late gauge\ndaypass_late{worker="2"} 1\n',
  );
});
