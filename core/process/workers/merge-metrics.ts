interface WorkerMetrics {
  readonly worker: number;
  readonly text: string;
}

const commentPattern = /^# (?:HELP|TYPE) (\S+)/;
const samplePattern = /^([a-zA-Z_:][\w:]*)(?:\{(.*))?/;

/**
 * Merges the metrics of several workers. Each series gets a label `worker`: a sum would fall when a worker is replaced, and `rate` would
 * mistake that for a restart of all workers.
 */
export function mergeMetrics(metrics: readonly WorkerMetrics[]): string {
  const families = new Map<string, { readonly head: string[]; readonly samples: string[] }>();
  for (const { worker, text } of metrics) {
    let name = '';
    for (const line of text.split('\n')) {
      const familyName = commentPattern.exec(line)?.[1];
      name = familyName ?? name;
      const family = families.get(name) ?? { head: [], samples: [] };
      families.set(name, family);
      if (familyName === undefined) family.samples.push(...addWorkerLabel(line, worker));
      else if (!family.head.includes(line)) family.head.push(line);
    }
  }
  return families
    .values()
    .flatMap(({ head, samples }) => [...head, ...samples])
    .map((line) => `${line}\n`)
    .toArray()
    .join('');
}

function addWorkerLabel(line: string, worker: number): string[] {
  const [match, name, labels] = samplePattern.exec(line) ?? [];
  if (match === undefined || name === undefined) return [];
  const start = `${name}{worker="${worker}"`;
  if (labels === undefined) return [`${start}}${line.slice(name.length)}`];
  return [labels.startsWith('}') ? start + labels : `${start},${labels}`];
}

interface WorkerMetric {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly values: readonly { readonly worker: number; readonly value: number }[];
}

export function renderMetric({ name, type, help, values }: WorkerMetric): string {
  const fullName = `daypass_${name}`;
  const samples = values.map(({ worker, value }) => `${fullName}{worker="${worker}"} ${value}\n`);
  return `# HELP ${fullName} ${help}\n# TYPE ${fullName} ${type}\n${samples.join('')}`;
}
