export interface AuditResult {
  readonly severe: readonly string[]; // known vulnerabilities that fail the build, one line per package
  readonly mild: readonly string[]; // packages with less severe vulnerabilities
  readonly skipped?: string; // why nothing could be checked
}

interface Vulnerability {
  readonly name: string;
  readonly severity: string;
  readonly range: string;
  readonly fixAvailable?: unknown;
  readonly via: readonly (string | { readonly title: string; readonly url: string })[];
}

/** An unreachable registry is accepted, because a build must not depend on someone else's server. */
export function readAudit(output: string): AuditResult {
  const report = parse(output);
  const { vulnerabilities } = report;
  if (vulnerabilities === undefined)
    return { severe: [], mild: [], skipped: report.message ?? report.error?.summary ?? 'no answer from the registry' };
  const all = Object.values(vulnerabilities);
  return {
    severe: all.filter(isSevere).map(describe),
    mild: all.filter((one) => !isSevere(one)).map(describe),
  };
}

function isSevere({ severity }: Vulnerability): boolean {
  return severity === 'high' || severity === 'critical';
}

interface Report {
  readonly vulnerabilities?: Readonly<Record<string, Vulnerability>>;
  readonly message?: string;
  readonly error?: { readonly summary?: string };
}

function parse(output: string): Report {
  try {
    return JSON.parse(output) as Report;
  } catch {
    return {};
  }
}

function describe({ name, severity, range, via, fixAvailable }: Vulnerability): string {
  const advisories = via.map((one) => (typeof one === 'string' ? `through ${one}` : `${one.title}, ${one.url}`));
  const fix = fixAvailable === undefined || fixAvailable === false ? 'no fix yet' : 'run `npm audit fix`';
  return `${name} ${range}: ${severity}: ${advisories.join('; ')} (${fix})`;
}
