import { findBrowser } from '../requests/browsers.ts';

// More specific patterns come first.
const systems = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X|Macintosh', 'macOS'],
  ['CrOS', 'ChromeOS'],
  ['Linux', 'Linux'],
] as const;

/** Describes a browser by its user agent: `Firefox, Windows`. Unknown parts are omitted; '' if both are unknown. */
export function describeDevice(userAgent: string): string {
  const names = [findBrowser(userAgent)?.name, findSystem(userAgent)];
  return names.filter((name) => name !== undefined).join(', ');
}

function findSystem(userAgent: string): string | undefined {
  return systems.find(([pattern]) => new RegExp(pattern).test(userAgent))?.[1];
}
