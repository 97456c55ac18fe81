/* Explains how to write a number in gateway.yaml if the value is a string. */

const secondsByUnit: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const bytesByPrefix: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const secondsByTargetUnit: Readonly<Record<string, number>> = {
  milliseconds: 0.001,
  ms: 0.001,
  seconds: 1,
  minutes: 60,
  hours: 3600,
  days: 86_400,
};

/** Finds the unit of a number: the first one among the first words of its description, such as `Maximum seconds that a client waits`. */
export function parseUnit(description: string | undefined): string | undefined {
  return /^(?:\S+ ){0,5}?\b(ms|milliseconds|seconds|minutes|hours|days|bytes)\b/i
    .exec(description ?? '')?.[1]
    ?.toLowerCase();
}

/**
 * Returns the number that a string most likely means, as it must be written; undefined if that is unclear. A dot before three digits may
 * separate thousands, as in Indonesian and German, or decimals, so both readings are returned.
 */
export function findIntendedNumber(text: string, unit: string | undefined, isWhole: boolean): string | undefined {
  const trimmed = text
    .trim()
    .replace(/[,;]$/, '')
    .replace(/\s*(#|\/\/).*$/, '');
  const thousands = /^([1-9]\d{0,2})\.(\d{3})$/.exec(trimmed);
  if (thousands !== null)
    return `${thousands[1]}${thousands[2]}${isWhole ? '' : `, or ${Number(trimmed)} with decimals`}`;
  if (/^-?\d+(\.\d+)?$/.test(trimmed)) return trimmed;
  if (/^\d{1,3}([.,_' ]\d{3})+$/.test(trimmed)) return trimmed.replaceAll(/\D/g, '');
  const [, percent] = /^(\d+(?:\.\d+)?) ?%$/.exec(trimmed) ?? [];
  if (percent !== undefined) return String(Number(percent) / 100);
  const [, count = '1', word = ''] = /^(\d+(?:\.\d+)?)? ?([a-z]+)$/i.exec(trimmed) ?? [];
  const size = unit === 'bytes' ? parseByteSize(word) : convertDuration(word, unit);
  const number = size === undefined ? NaN : Number(count) * size;
  return Number.isFinite(number) ? String(Number(number.toFixed(6))) : undefined;
}

function parseByteSize(word: string): number | undefined {
  const [, prefix] = /^([kmg]?)i?b?(?:ytes?)?$/i.exec(word) ?? [];
  return prefix === undefined ? undefined : bytesByPrefix[prefix.toLowerCase() || 'b'];
}

function convertDuration(word: string, unit: string | undefined): number | undefined {
  const targetSeconds = unit === undefined ? undefined : secondsByTargetUnit[unit];
  const sourceUnit = /^(ms|millis|milliseconds?)$/i.test(word)
    ? 'ms'
    : /^(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$/i.exec(word)?.[0].charAt(0).toLowerCase();
  return sourceUnit === undefined || targetSeconds === undefined
    ? undefined
    : (secondsByUnit[sourceUnit] as number) / targetSeconds;
}
