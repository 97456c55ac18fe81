/**
 * The first release of each line of Node.js with the fixes of 21 October 2026; later lines have them from their beginning. Before,
 * decoding a body in `br` may write beyond a buffer (CVE-2026-111497), and certificates (CVE-2026-105483, CVE-2026-106069) and
 * addresses (CVE-2026-105482) of other names may be accepted.
 *
 * @see https://nodejs.org/en/blog/vulnerability/october-2026-security-releases
 */
export const fixedReleases = ['24.22.1', '26.12.1'] as const;

/**
 * True for a release of Node.js that decodes Brotli safely.
 *
 * @param version such as `26.12.1`
 */
export function decodesBrotli(version: string = process.versions.node): boolean {
  return isFixed(version, fixedReleases);
}

/**
 * True for a release that is not older than the first fixed one of its line, and for lines that are newer than all of these.
 *
 * @param version such as `26.12.1`; anything after its numbers is ignored
 * @param fixed the first fixed release of each line, which is its first number
 */
export function isFixed(version: string, fixed: readonly string[]): boolean {
  const [line = 0, minor = 0, patch = 0] = partsOf(version);
  const lines = fixed.map(partsOf);
  const first = lines.find(([one]) => one === line);
  if (first === undefined) return line > Math.max(...lines.map(([one = 0]) => one));
  const [, firstMinor = 0, firstPatch = 0] = first;
  return minor > firstMinor || (minor === firstMinor && patch >= firstPatch);
}

/**
 * True for a release of Node.js whose HTTP server asks which requests are to become WebSockets.
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
 * Lists the fixes that the running Node.js lacks; empty for one with all of them.
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
