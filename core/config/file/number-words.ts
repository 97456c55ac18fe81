/** Explains how to write a number in gateway.yaml when the value is a string. */

const durations: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };
const bytes: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const secondsPerUnit: Readonly<Record<string, number>> = {
  milliseconds: 0.001,
  ms: 0.001,
  seconds: 1,
  minutes: 60,
  hours: 3600,
  days: 86_400,
};

/** Returns the unit of a number, taken from the beginning of its description: `Maximum seconds that a client can request`. */
export function unitOf(description: string | undefined): string | undefined {
  return /^(?:\S+ ){0,2}\b(ms|milliseconds|seconds|minutes|hours|days|bytes)\b/i
    .exec(description ?? '')?.[1]
    ?.toLowerCase();
}

/**
 * Returns the number that a string most likely means, in its valid form; undefined if the string is ambiguous. A dot before three digits
 * may separate thousands, as in Indonesian and German, or decimals, so both readings are named.
 */
export function intendedNumber(text: string, unit: string | undefined, isWhole: boolean): string | undefined {
  const bare = text
    .trim()
    .replace(/[,;]$/, '')
    .replace(/\s*(#|\/\/).*$/, '');
  const thousands = /^([1-9]\d{0,2})\.(\d{3})$/.exec(bare);
  if (thousands !== null) return `${thousands[1]}${thousands[2]}${isWhole ? '' : `, or ${Number(bare)} with decimals`}`;
  if (/^-?\d+(\.\d+)?$/.test(bare)) return bare;
  if (/^\d{1,3}([.,_' ]\d{3})+$/.test(bare)) return bare.replaceAll(/\D/g, '');
  const [, share] = /^(\d+(?:\.\d+)?) ?%$/.exec(bare) ?? [];
  if (share !== undefined) return String(Number(share) / 100);
  const [, count = '1', word = ''] = /^(\d+(?:\.\d+)?)? ?([a-z]+)$/i.exec(bare) ?? [];
  const size = unit === 'bytes' ? byteSize(word) : durationIn(word, unit);
  const number = size === undefined ? NaN : Number(count) * size;
  return Number.isFinite(number) ? String(Number(number.toFixed(6))) : undefined;
}

function byteSize(word: string): number | undefined {
  const [, first] = /^([kmg]?)i?b?(?:ytes?)?$/i.exec(word) ?? [];
  return first === undefined ? undefined : bytes[first.toLowerCase() || 'b'];
}

function durationIn(word: string, unit: string | undefined): number | undefined {
  const inSeconds = unit === undefined ? undefined : secondsPerUnit[unit];
  const name = /^(ms|millis|milliseconds?)$/i.test(word)
    ? 'ms'
    : /^(s|secs?|seconds?|m|mins?|minutes?|h|hrs?|hours?|d|days?)$/i.exec(word)?.[0].charAt(0).toLowerCase();
  return name === undefined || inSeconds === undefined ? undefined : (durations[name] as number) / inSeconds;
}
