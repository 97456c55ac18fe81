import type { Metric, Registry } from 'prom-client';
import type { MetricFamily, MetricValue } from '#core/gateway/health/metric-source.ts';

type LabelValue = string | number;
type LabelNames = readonly string[];
type LabelValues<Labels extends LabelNames> = { readonly [Index in keyof Labels]: LabelValue }; // in the order of the label names

interface MeterDescription<Labels extends LabelNames> {
  readonly name: string;
  readonly help: string;
  readonly labels: Labels;
  readonly registry: Registry;
}

interface Series<Reading> {
  readonly labels: Readonly<Record<string, LabelValue>>;
  readonly reading: Reading;
}

interface Branch<Reading> {
  readonly children: Map<LabelValue, Branch<Reading>>;
  reading: Reading | undefined;
}

/**
 * A metric that every request updates. At each observation, prom-client validates and joins the labels, which costs more than counting. A
 * meter needs only one lookup per label value, and prom-client reads the series at each scrape.
 */
abstract class Meter<Reading, Labels extends LabelNames> {
  abstract readonly type: MetricFamily['type'];
  readonly name: string;
  readonly help: string;
  readonly labelNames: Labels;
  readonly #root: Branch<Reading> = { children: new Map(), reading: undefined };
  readonly #series: Series<Reading>[] = [];

  constructor({ name, help, labels, registry }: MeterDescription<Labels>) {
    this.name = name;
    this.help = help;
    this.labelNames = labels;
    // The registry uses only a metric's name and its `get` method.
    registry.registerMetric(this as unknown as Metric);
  }

  /** Lists the series in the order in which they were first observed. */
  async get(): Promise<MetricFamily> {
    const { name, help, type } = this;
    return { name, help, type, values: this.#series.flatMap((series) => this.read(series)) };
  }

  protected abstract create(): Reading;

  protected abstract read(series: Series<Reading>): readonly MetricValue[];

  protected getReading(values: LabelValues<Labels>): Reading {
    let branch = this.#root;
    for (const value of values) branch = branch.children.get(value) ?? addBranch(branch, value);
    return (branch.reading ??= this.#startSeries(values));
  }

  #startSeries(values: LabelValues<Labels>): Reading {
    const reading = this.create();
    const labels = Object.fromEntries(this.labelNames.map((label, index) => [label, values[index] as LabelValue]));
    this.#series.push({ labels, reading });
    return reading;
  }
}

function addBranch<Reading>({ children }: Branch<Reading>, value: LabelValue): Branch<Reading> {
  const branch: Branch<Reading> = { children: new Map(), reading: undefined };
  children.set(value, branch);
  return branch;
}

interface Count {
  total: number;
}

export class CountMeter<const Labels extends LabelNames> extends Meter<Count, Labels> {
  readonly type = 'counter';

  add(amount: number, ...labels: LabelValues<Labels>): void {
    this.getReading(labels).total += amount;
  }

  protected create(): Count {
    return { total: 0 };
  }

  protected read({ labels, reading }: Series<Count>): readonly MetricValue[] {
    return [{ value: reading.total, labels }];
  }
}

interface Distribution {
  /** Each bucket counts only observations above the previous bound and up to its own. */
  readonly buckets: number[];
  sum: number;
  count: number;
}

export class DistributionMeter<const Labels extends LabelNames> extends Meter<Distribution, Labels> {
  readonly type = 'histogram';
  readonly #bounds: readonly number[];

  /** @param description includes the upper bounds of the buckets, in ascending order */
  constructor(description: MeterDescription<Labels> & { readonly bounds: readonly number[] }) {
    super(description);
    this.#bounds = description.bounds;
  }

  observe(value: number, ...labels: LabelValues<Labels>): void {
    const distribution = this.getReading(labels);
    const { buckets } = distribution;
    const index = this.#bounds.findIndex((bound) => value <= bound);
    if (index >= 0) buckets[index] = (buckets[index] as number) + 1;
    distribution.sum += value;
    distribution.count++;
  }

  protected create(): Distribution {
    return { buckets: this.#bounds.map(() => 0), sum: 0, count: 0 };
  }

  protected read({ labels, reading: { buckets, sum, count } }: Series<Distribution>): readonly MetricValue[] {
    const metricName = `${this.name}_bucket`;
    let cumulativeCount = 0;
    const bucketValues = this.#bounds.map((le, index) => {
      cumulativeCount += buckets[index] as number;
      return { metricName, value: cumulativeCount, labels: { le, ...labels } };
    });
    return [
      ...bucketValues,
      { metricName, value: count, labels: { le: '+Inf', ...labels } },
      { metricName: `${this.name}_sum`, value: sum, labels },
      { metricName: `${this.name}_count`, value: count, labels },
    ];
  }
}
