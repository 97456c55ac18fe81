/**
 * First release of each Node.js line with the fixes of 21 October 2026; later lines have had them from the start. In earlier releases,
 * decoding a `br` body may write beyond a buffer (CVE-2026-111497), and certificates (CVE-2026-105483, CVE-2026-106069) and addresses
 * (CVE-2026-105482) of other names may be accepted.
 *
 * @see https://nodejs.org/en/blog/vulnerability/october-2026-security-releases
 */
export const fixedReleases = ['24.22.1', '26.12.1'] as const;

/**
 * Returns true if this Node.js release decodes Brotli safely.
 *
 * @param version such as `26.12.1`
 */
export function decodesBrotli(version: string = process.versions.node): boolean {
  return isFixed(version, fixedReleases);
}

/**
 * Returns true for a release that is at least the first fixed one of its line, and for newer lines.
 *
 * @param version such as `26.12.1`; anything after the numbers is ignored
 * @param fixed first fixed release of each line (major version)
 */
export function isFixed(version: string, fixed: readonly string[]): boolean {
  const [line = 0, minor = 0, patch = 0] = partsOf(version);
  const lines = fixed.map(partsOf);
  const first = lines.find(([major]) => major === line);
  if (first === undefined) return line > Math.max(...lines.map(([major = 0]) => major));
  const [, firstMinor = 0, firstPatch = 0] = first;
  return minor > firstMinor || (minor === firstMinor && patch >= firstPatch);
}

/**
 * Returns true if this Node.js release's HTTP server asks which requests to upgrade to WebSockets.
 *
 * @param version such as `26.12.1`
 */
export function asksBeforeUpgrades(version: string = process.versions.node): boolean {
  return isFixed(version, ['24.9.0']);
}

function partsOf(version: string): number[] {
  return version.split('.', 3).map((part) => Number.parseInt(part, 10));
}

/**
 * Lists features and fixes that this Node.js release lacks.
 *
 * @param version such as `26.12.1`
 */
export function nodeNotices(version: string = process.versions.node): string[] {
  const notices = asksBeforeUpgrades(version)
    ? []
    : [`Node.js ${version} serves no WebSockets: Codex and SDKs that ask for one get 426; install 24.9 or newer`];
  if (decodesBrotli(version)) return notices;
  return [
    ...notices,
    `Node.js ${version} lacks the security fixes of October 2026 for Brotli, TLS and DNS: bodies in br are refused and never decoded; install ${fixedReleases.join(', ')} or newer`,
  ];
}
