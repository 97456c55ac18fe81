interface WorkerMetrics {
  readonly worker: number;
  readonly text: string;
}

const comment = /^# (?:HELP|TYPE) (\S+)/;
const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*))?/;

/**
 * Joins the metrics of several workers. Each series gets a label `worker`, comparable to `instance` for machines. Sums would fall
 * when a worker is replaced, and `rate` would take that for a restart of all workers.
 */
export function mergeMetrics(all: readonly WorkerMetrics[]): string {
  const families = new Map<string, { readonly head: string[]; readonly samples: string[] }>();
  for (const { worker, text } of all) {
    let name = '';
    for (const line of text.split('\n')) {
      const of = comment.exec(line)?.[1];
      name = of ?? name;
      const family = families.get(name) ?? { head: [], samples: [] };
      families.set(name, family);
      if (of === undefined) family.samples.push(...labelled(line, worker));
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

function labelled(line: string, worker: number): string[] {
  const [whole, name, labels] = sample.exec(line) ?? [];
  if (whole === undefined || name === undefined) return [];
  const rest = labels === undefined ? `}${line.slice(name.length)}` : labels.startsWith('}') ? labels : `,${labels}`;
  return [`${name}{worker="${worker}"${rest}`];
}

interface MetricOfWorkers {
  readonly name: string;
  readonly type: 'gauge' | 'counter';
  readonly help: string;
  readonly values: readonly { readonly worker: number; readonly value: number }[];
}

export function writeMetric({ name, type, help, values }: MetricOfWorkers): string {
  const full = `daypass_${name}`;
  const samples = values.map(({ worker, value }) => `${full}{worker="${worker}"} ${value}\n`);
  return `# HELP ${full} ${help}\n# TYPE ${full} ${type}\n${samples.join('')}`;
}
