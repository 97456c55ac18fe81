/**
 * First release of each Node.js line with the fixes of 21 October 2026; later lines include them from the start. In earlier releases,
 * decoding a `br` body may overflow a buffer (CVE-2026-111497), and certificates (CVE-2026-105483, CVE-2026-106069) and addresses
 * (CVE-2026-105482) may be accepted for the wrong host name.
 *
 * @see https://nodejs.org/en/blog/vulnerability/october-2026-security-releases
 */
export const fixedReleases = ['24.22.1', '26.12.1'] as const;

export function decodesBrotliSafely(version: string = process.versions.node): boolean {
  return isFixed(version, fixedReleases);
}

/**
 * Returns true if a release has a fix: it is not older than the first fixed release of its line, or its line is newer than all of them.
 *
 * @param version such as `26.12.1`; anything after the numbers is ignored
 * @param fixedVersions first fixed release of each line (major version)
 */
export function isFixed(version: string, fixedVersions: readonly string[]): boolean {
  const [line = 0, minor = 0, patch = 0] = parseVersion(version);
  const parsedFixes = fixedVersions.map(parseVersion);
  const firstFixed = parsedFixes.find(([major]) => major === line);
  if (firstFixed === undefined) return line > Math.max(...parsedFixes.map(([major = 0]) => major));
  const [, firstMinor = 0, firstPatch = 0] = firstFixed;
  return minor > firstMinor || (minor === firstMinor && patch >= firstPatch);
}

/** `shouldUpgradeCallback` selects the requests that become WebSockets. */
export function supportsUpgradeFilter(version: string = process.versions.node): boolean {
  return isFixed(version, ['24.9.0']);
}

function parseVersion(version: string): number[] {
  return version.split('.', 3).map((part) => Number.parseInt(part, 10));
}

/** Lists features and fixes that this Node.js release lacks. */
export function listNodeNotices(version: string = process.versions.node): string[] {
  const notices = supportsUpgradeFilter(version)
    ? []
    : [
        `Node.js ${version} does not support WebSockets: Codex and SDKs that request one get 426; install 24.9 or newer`,
      ];
  if (decodesBrotliSafely(version)) return notices;
  return [
    ...notices,
    `Node.js ${version} lacks the security fixes of October 2026 for Brotli, TLS and DNS: Brotli-encoded bodies are rejected and never decoded; install ${fixedReleases.join(', ')} or newer`,
  ];
}
