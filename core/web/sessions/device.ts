/** Patterns in user agents, more specific ones first: Edge and Opera also claim to be Chrome. */
const browsers = [
  ['Edg(?:A|iOS)?/', 'Edge'],
  ['OPR/|Opera', 'Opera'],
  ['SamsungBrowser/', 'Samsung Internet'],
  ['Firefox/|FxiOS/', 'Firefox'],
  ['Chrome/|CriOS/|Chromium/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;

const systems = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X|Macintosh', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

/** Describes a browser by its user agent, such as `Firefox, Windows`. Unknown parts are omitted; '' if both are unknown. */
export function describeDevice(userAgent: string): string {
  const names = [findName(browsers, userAgent), findName(systems, userAgent)];
  return names.filter((name) => name !== undefined).join(', ');
}

function findName(patterns: readonly (readonly [string, string])[], userAgent: string): string | undefined {
  return patterns.find(([pattern]) => new RegExp(pattern).test(userAgent))?.[1];
}
