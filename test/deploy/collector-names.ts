/*
 * How the exporters for Prometheus of the OpenTelemetry Collector name a metric with suffixes on, their default (contrib v0.165.1,
 * pkg/translator/prometheus, and github.com/prometheus/otlptranslator v1.0.0).
 */

/** Suffixes of the units of UCUM that may occur here. */
const unitSuffixes: Readonly<Record<string, string>> = {
  s: 'seconds',
  ms: 'milliseconds',
  By: 'bytes',
  KBy: 'kilobytes',
};

/** A metric of OTLP, as far as its name depends on it. */
export interface NamedMetric {
  readonly name: string;
  readonly unit?: string;
  readonly gauge?: object;
  readonly sum?: { readonly isMonotonic?: boolean };
  readonly histogram?: object;
}

/** The names of its series in Prometheus. */
export function seriesBehindCollector({ name, unit = '', gauge, sum, histogram }: NamedMetric): string[] {
  let words = name.split('_').filter((word) => word !== '');
  // A unit in braces, such as {request}, is an annotation and has no suffix.
  const suffix = unitSuffixes[unit] ?? (unit === '1' || unit.startsWith('{') ? '' : unit);
  if (suffix !== '' && !words.includes(suffix)) words.push(suffix);
  if (sum?.isMonotonic === true) words = [...words.filter((word) => word !== 'total'), 'total'];
  if (unit === '1' && gauge !== undefined) words = [...words.filter((word) => word !== 'ratio'), 'ratio'];
  const built = words.join('_');
  return histogram === undefined ? [built] : ['_bucket', '_sum', '_count'].map((part) => built + part);
}
