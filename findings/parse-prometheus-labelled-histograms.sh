#!/bin/sh
# parse-prometheus-text-format 1.1.1 (JavaScript): of a histogram or summary with labels, as nearly all are, one series is left. The buckets of
# every series are written over those of the one before it, and labels, `_sum` and `_count` are dropped without an error. Who reads the
# latency of a model gets that of whichever model comes last. A histogram without labels, and counters and gauges with them, are read well.
#
# Seen: 'with labels: [{"buckets":{"1":"5","+Inf":"6"}}]' for two series of 2 and 6 requests, 'summary with labels: [{"quantiles":{"0.5":"9"}}]',
# 'without labels: [{"buckets":{"1":"1","+Inf":"2"},"count":"2","sum":"3"}]'. Exits with 1 when that changes. Needs Node.js.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund parse-prometheus-text-format@1.1.1
cat > run.js <<'JS'
import parse from 'parse-prometheus-text-format';

const histogram = (labels, low, all, sum) => {
  const inside = labels && `${labels},`;
  const outside = labels && `{${labels}}`;
  return `h_bucket{${inside}le="1"} ${low}\nh_bucket{${inside}le="+Inf"} ${all}\nh_sum${outside} ${sum}\nh_count${outside} ${all}\n`;
};
const summary = (model, quantile, count) =>
  `s{model="${model}",quantile="0.5"} ${quantile}\ns_sum{model="${model}"} ${quantile}\ns_count{model="${model}"} ${count}\n`;
const texts = {
  'with labels': `# TYPE h histogram\n${histogram('model="small"', 1, 2, 3)}${histogram('model="large"', 5, 6, 70)}`,
  'summary with labels': `# TYPE s summary\n${summary('small', 1, 2)}${summary('large', 9, 6)}`,
  'without labels': `# TYPE h histogram\n${histogram('', 1, 2, 3)}`,
  'gauge with labels': '# TYPE g gauge\ng{model="small"} 1\ng{model="large"} 2\n',
};
const expected = {
  'with labels': '[{"buckets":{"1":"5","+Inf":"6"}}]',
  'summary with labels': '[{"quantiles":{"0.5":"9"}}]',
  'without labels': '[{"buckets":{"1":"1","+Inf":"2"},"count":"2","sum":"3"}]',
  'gauge with labels': '[{"value":"1","labels":{"model":"small"}},{"value":"2","labels":{"model":"large"}}]',
};
let asSeen = true;
for (const [name, text] of Object.entries(texts)) {
  const [{ metrics }] = parse(text);
  const seen = JSON.stringify(metrics);
  console.log(`${name}: ${seen}`);
  asSeen &&= seen === expected[name];
}
process.exit(asSeen ? 0 : 1);
JS
timeout 60 node run.js
