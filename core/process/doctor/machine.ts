import { access, constants, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { data, service } from '#core/config/sections/core-sections.ts';
import type { Diagnosis, DiagnosisHost } from '#core/gateway/diagnosis/diagnosis.ts';
import { failed, type Finding, ok, skipped, warning } from '#core/gateway/diagnosis/finding.ts';
import { explainNetworkError } from '#core/gateway/diagnosis/network.ts';
import { lacksInodes, readDiskRoom } from '#core/gateway/health/disk-check.ts';
import { queryOperator, OperatorUnavailable } from '#core/gateway/operator-listener/query-operator.ts';
import type { JsonObject } from '#core/platform/json.ts';
import { supportsUpgradeFilter, decodesBrotliSafely, fixedReleases } from '#core/platform/node-release.ts';
import { outgoingFetch } from '#core/platform/outgoing-fetch.ts';
import type { ProblemView } from '#core/web/problems/find-problems.ts';

const warningFreeBytes = 2_000_000_000;
const maxClockDifferenceMs = 30_000; // signatures and tokens tolerate minutes, but plans would end at the wrong time
const maxListedProblems = 5;
const maxAskedServers = 3;

const formatMegabytes = (bytes: number) => `${Math.round(bytes / 1_000_000).toLocaleString('en')} MB`;

export const nodeDiagnosis: Diagnosis = {
  name: 'node',
  checks: () => [{ subject: process.versions.node, run: async () => describeNode(process.versions.node) }],
};

function describeNode(version: string): Finding {
  if (!supportsUpgradeFilter(version))
    return warning(
      'does not support WebSockets, and lacks the security fixes of October 2026; clients that request a WebSocket get 426',
      `Install Node.js ${fixedReleases.join(', ')} or newer.`,
    );
  if (decodesBrotliSafely(version)) return ok('has the known security fixes');
  return warning(
    'lacks the security fixes of October 2026 for Brotli, TLS and DNS; Brotli-encoded bodies are rejected and never decoded',
    `Install Node.js ${fixedReleases.join(', ')} or newer.`,
  );
}

export const diskDiagnosis: Diagnosis = {
  name: 'disk',
  checks: (host) => [{ subject: host.dataFolder, run: () => checkDisk(host) }],
};

async function checkDisk({ dataFolder, section }: DiagnosisHost): Promise<Finding> {
  if ((await stat(dataFolder).catch(() => undefined)) === undefined) return skipped('the first start creates it');
  const probe = join(dataFolder, `.doctor-${process.pid}`);
  try {
    await access(dataFolder, constants.W_OK);
    await writeFile(probe, '');
  } catch {
    return failed('is not writable', "Make it writable for the gateway's user, or set data.folder.");
  } finally {
    await rm(probe, { force: true }).catch(() => undefined);
  }
  const diskRoom = await readDiskRoom(dataFolder);
  const { free, inodes } = diskRoom;
  const advice = 'Free some space, enlarge the disk, or lower `log: { keep_days }`.';
  if (lacksInodes(diskRoom))
    return failed(`its disk has ${inodes} inodes left`, 'Remove files: many small files have used up the inodes.');
  if (free < section(data).min_free_bytes) return failed(`${formatMegabytes(free)} are free`, advice);
  if (free < warningFreeBytes) return warning(`${formatMegabytes(free)} are free`, advice);
  return ok(`${formatMegabytes(free)} are free`);
}

export const clockDiagnosis: Diagnosis = {
  name: 'clock',
  checks: (host) => [{ run: (signal) => checkClock(host, signal) }],
};

async function checkClock({ catalog, now }: DiagnosisHost, signal: AbortSignal): Promise<Finding> {
  const origins = catalog.upstreams
    .filter(({ isEnabled, isDemo }) => isEnabled && !isDemo)
    .map(({ baseUrl }) => new URL(baseUrl).origin);
  const askedOrigins = [...new Set(origins)].slice(0, maxAskedServers);
  if (askedOrigins.length === 0) return skipped('no upstream to compare it with');
  const leads = await Promise.allSettled(askedOrigins.map((origin) => measureClockLeadMs(origin, now, signal)));
  const measuredLeads = leads.flatMap((lead) =>
    lead.status === 'fulfilled' && lead.value !== undefined ? [lead.value] : [],
  );
  const leastLead = measuredLeads.toSorted((first, second) => Math.abs(first) - Math.abs(second))[0];
  if (leastLead === undefined) return skipped('no upstream reports the time');
  const seconds = Math.round(Math.abs(leastLead) / 1000);
  if (Math.abs(leastLead) <= maxClockDifferenceMs) return ok(`within ${Math.max(1, seconds)} s of the upstreams`);
  const text = `${seconds} s ${leastLead > 0 ? 'ahead of' : 'behind'} the upstreams`;
  return failed(text, 'Synchronize it: timedatectl set-ntp true, or start chronyd.');
}

async function measureClockLeadMs(origin: string, now: () => number, signal: AbortSignal): Promise<number | undefined> {
  const startedAt = now();
  const response = await outgoingFetch(origin, { method: 'HEAD', redirect: 'manual', signal });
  const serverTime = Date.parse(response.headers.get('date') ?? '');
  // The header contains whole seconds, so the server's time is half a second later on average.
  return Number.isNaN(serverTime) ? undefined : (startedAt + now()) / 2 - (serverTime + 500);
}

/** Also reports failing health checks and other problems for operators. */
export const gatewayDiagnosis: Diagnosis = {
  name: 'gateway',
  checks: (host) => [{ run: () => checkGateway(host) }],
};

async function checkGateway(host: DiagnosisHost): Promise<Finding> {
  try {
    return describeReadiness(await queryOperator(host));
  } catch (error) {
    if (!(error instanceof OperatorUnavailable)) throw error;
    return skipped(error.message);
  }
}

export function describeReadiness({ status, checks, problems }: JsonObject): Finding {
  const failing = asList<{ name: string; ok: boolean; reason?: string }>(checks).flatMap((check) =>
    check.ok ? [] : [`${check.name}: ${check.reason ?? 'fails'}`],
  );
  const otherProblems = asList<ProblemView>(problems)
    .filter(({ problem, severity }) => problem !== 'check' && severity !== 'info')
    .map(({ title, text }) => `${title}: ${text}`);
  const reportedProblems = [
    ...otherProblems.slice(0, maxListedProblems),
    ...(otherProblems.length > maxListedProblems ? [`${otherProblems.length - maxListedProblems} more`] : []),
  ];
  if (failing.length > 0)
    return failed(
      `runs, degraded: ${[...failing, ...reportedProblems].join(' · ')}`,
      '/operator/health lists the same checks and how long each has been failing.',
    );
  if (reportedProblems.length === 0) return ok(`runs, ${String(status)}`);
  return warning(`runs; ${reportedProblems.join(' · ')}`, '/operator links each to the page that fixes it.');
}

function asList<Entry>(value: unknown): readonly Entry[] {
  return Array.isArray(value) ? value : [];
}

export const baseUrlDiagnosis: Diagnosis = {
  name: 'base_url',
  checks: (host) => [{ run: (signal) => checkBaseUrl(host, signal) }],
};

async function checkBaseUrl(host: DiagnosisHost, signal: AbortSignal): Promise<Finding> {
  const { base_url: configuredUrl = '' } = host.section(service);
  if (configuredUrl === '') return skipped('service.base_url is not set: this gateway is for this machine only');
  const url = host.service.baseUrl;
  let response: Response;
  try {
    response = await outgoingFetch(`${url}/livez`, { redirect: 'manual', signal });
  } catch (error) {
    const { text, advice } = explainNetworkError(error);
    return failed(
      `${url}: ${text}`,
      `${advice ?? ''} A stopped gateway, or a router without hairpin NAT, looks the same: try from outside.`,
    );
  }
  const redirectTarget = response.headers.get('location');
  if (redirectTarget !== null)
    return failed(
      `${url} redirects to ${redirectTarget.slice(0, 200)}`,
      'Set service.base_url to the address that does not redirect: clients send keys and POST there.',
    );
  const body = await response.text();
  if (response.status === 200 && body.includes('"status":"ok"')) return ok(`${url} leads to a gateway`);
  const advice =
    'Check that the proxy forwards all paths to the port of `listen`, and that the gateway runs (docs/proxies.md).';
  return failed(`${url}/livez does not respond like a gateway (status ${response.status})`, advice);
}
