import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parse, stringify } from 'yaml';

const run = promisify(execFile);

/** One test of `promtool test rules`. */
export interface RuleTest {
  readonly interval: string;
  readonly input_series: readonly { readonly series: string; readonly values: string }[];
  readonly promql_expr_test: readonly object[];
}

const gateway = 'instance="one:9080",job="daypass"';

/** Series of a gateway that works, in promtool's notation: a value, or a start and its growth, each minute. */
const healthy: Readonly<Record<string, string>> = {
  [`up{${gateway}}`]: '1x2000',
  [`daypass_process_start_time_seconds{${gateway}}`]: '1000x2000',
  [`daypass_build_info{${gateway},version="0.6.0",node="26.12.1"}`]: '1x2000',
  [`daypass_requests_total{${gateway},model="gpt-6-sol",outcome="answered",status="200"}`]: '0+60x2000',
  [`daypass_requests_total{${gateway},model="gpt-6-sol",outcome="failed",status="502"}`]: '0+1x2000',
  [`daypass_requests_total{${gateway},model="none",outcome="refused",status="401"}`]: '0+60x2000',
  [`daypass_model_state{${gateway},model="gpt-6-sol"}`]: '0x2000',
  [`daypass_overhead_seconds_bucket{${gateway},endpoint="chat",le="0.005"}`]: '0+60x2000',
  [`daypass_overhead_seconds_bucket{${gateway},endpoint="chat",le="0.25"}`]: '0+60x2000',
  [`daypass_overhead_seconds_bucket{${gateway},endpoint="chat",le="1"}`]: '0+60x2000',
  [`daypass_overhead_seconds_bucket{${gateway},endpoint="chat",le="+Inf"}`]: '0+60x2000',
  [`daypass_event_loop_active_seconds_total{${gateway}}`]: '0+12x2000',
  [`daypass_event_loop_stalled_seconds_total{${gateway}}`]: '0+0.2x2000',
  [`daypass_memory_level{${gateway}}`]: '0x2000',
  [`daypass_memory_refusals_total{${gateway},what="body"}`]: '3x2000',
  [`daypass_client_connections{${gateway}}`]: '100x2000',
  [`daypass_client_connections_limit{${gateway}}`]: '420x2000',
  [`daypass_route_state{${gateway},route="openai/gpt-6-sol"}`]: '0 0 2 1 0x2000',
  [`daypass_route_drifted{${gateway},route="openai/gpt-6-sol"}`]: '0x2000',
  [`daypass_route_fingerprint_changed{${gateway},route="openai/gpt-6-sol"}`]: '0x2000',
  [`daypass_health_check{${gateway},check="probes"}`]: '1x2000',
  [`daypass_upstream_keys{${gateway},upstream="openai"}`]: '2x2000',
  [`daypass_upstream_keys_cooling_down{${gateway},upstream="openai"}`]: '1x2000',
  [`daypass_upstream_keys_refused{${gateway},upstream="openai"}`]: '0x2000',
  [`daypass_upstream_keys_closed{${gateway},upstream="openai"}`]: '0x2000',
  [`daypass_problems{${gateway},problem="cached_input",severity="warn"}`]: '0x2000',
  [`daypass_problems{${gateway},problem="balance",severity="warn"}`]: '0x2000',
  [`daypass_problems{${gateway},problem="retirement",severity="warn"}`]: '0x2000',
  [`daypass_queue_seconds_count{${gateway},model="gpt-6-sol",outcome="answered"}`]: '0+20x2000',
  [`daypass_queue_seconds_count{${gateway},model="gpt-6-sol",outcome="refused"}`]: '0+0.5x2000',
  [`daypass_queue_seconds_bucket{${gateway},model="gpt-6-sol",outcome="answered",le="1"}`]: '0+20x2000',
  [`daypass_queue_seconds_bucket{${gateway},model="gpt-6-sol",outcome="answered",le="10"}`]: '0+20x2000',
  [`daypass_queue_seconds_bucket{${gateway},model="gpt-6-sol",outcome="answered",le="30"}`]: '0+20x2000',
  [`daypass_queue_seconds_bucket{${gateway},model="gpt-6-sol",outcome="answered",le="+Inf"}`]: '0+20x2000',
  // Few requests, of which half are refused, are no scarcity.
  [`daypass_queue_seconds_count{${gateway},model="o3",outcome="answered"}`]: '0+0.1x2000',
  [`daypass_queue_seconds_count{${gateway},model="o3",outcome="refused"}`]: '0+0.1x2000',
  [`daypass_sales_waiting{${gateway},plan="all"}`]: '5x1000 4x1000',
  [`daypass_dependency_up{${gateway},dependency="database"}`]: '1x2000',
  [`daypass_dependency_up{${gateway},dependency="shared_state"}`]: '1x2000',
  [`daypass_health_check{${gateway},check="names"}`]: '1x2000',
  [`daypass_health_check{${gateway},check="jobs"}`]: '1x2000',
  [`daypass_health_check{${gateway},check="backup"}`]: '1x2000',
  [`daypass_backup_failed{${gateway}}`]: '0x2000',
  [`daypass_journal_oldest_seconds{${gateway}}`]: '2x2000',
  [`daypass_requests_without_record{${gateway}}`]: '5x2000',
  [`daypass_free_disk_bytes{${gateway}}`]: '50000000000-1000x2000',
  [`daypass_config_refused{${gateway}}`]: '0x2000',
  [`daypass_config_canary_taken_back{${gateway}}`]: '0x2000',
  [`daypass_jobs{${gateway},state="failed"}`]: '0x2000',
  [`daypass_jobs_waiting_oldest_seconds{${gateway}}`]: '3x2000',
  [`daypass_background_failures_total{${gateway},work="updates of open pages"}`]: '0+0.1x2000',
  [`daypass_log_writes_lost_total{${gateway}}`]: '7x2000',
  [`daypass_telemetry_dropped_total{${gateway},signal="traces"}`]: '3x2000',
  [`daypass_order_flags_open{${gateway},kind="wrong_amount"}`]: '0x2000',
  [`daypass_payment_unconfirmed_oldest_seconds{${gateway}}`]: '20x2000',
  [`daypass_payment_provider_calls_total{${gateway},provider="midtrans",result="ok"}`]: '0+6x2000',
  [`daypass_payment_provider_calls_total{${gateway},provider="midtrans",result="temporary"}`]: '0+1x2000',
  [`daypass_refunds_pending{${gateway}}`]: '1x600 0x1400',
  [`daypass_mail_waiting_oldest_seconds{${gateway},channel="customer"}`]: '10x2000',
  [`daypass_mail_messages{${gateway},channel="customer",state="failed"}`]: '0x2000',
};

/** For each alert, series in place of the healthy ones with which it must fire, and when to look. */
export const failures: Readonly<
  Record<string, { readonly at?: string; readonly series: Readonly<Record<string, string>> }>
> = {
  DaypassDown: { series: { up: '1x20 0x2000' } },
  DaypassRestarting: { series: { daypass_process_start_time_seconds: '0+100x2000' } },
  DaypassRequestsFailing: { series: { 'daypass_requests_total{outcome="failed"}': '0+6x2000' } },
  DaypassModelDown: { series: { daypass_model_state: '2x2000' } },
  DaypassModelDegraded: { series: { daypass_model_state: '1x2000' } },
  DaypassOverheadHigh: {
    series: {
      'daypass_overhead_seconds_bucket{le="0.005"}': '0+50x2000',
      'daypass_overhead_seconds_bucket{le="0.25"}': '0+50x2000',
    },
  },
  DaypassSaturated: { series: { daypass_event_loop_active_seconds_total: '0+55x2000' } },
  DaypassEventLoopStalled: { series: { daypass_event_loop_stalled_seconds_total: '0+6x2000' } },
  DaypassMemoryScarce: { series: { daypass_memory_refusals_total: '0+1x2000' } },
  DaypassConnectionsFull: { series: { daypass_client_connections: '400x2000' } },
  DaypassRouteOpen: { series: { daypass_route_state: '3x2000' } },
  DaypassRouteDrifted: { series: { daypass_route_drifted: '1x2000' } },
  DaypassCachedInputFell: { series: { 'daypass_problems{problem="cached_input",severity="warn"}': '1x2000' } },
  DaypassKeyRefused: { series: { daypass_upstream_keys_refused: '1x2000' } },
  DaypassKeyClosed: { series: { daypass_upstream_keys_closed: '1x2000' } },
  DaypassBalanceLow: { series: { 'daypass_problems{problem="balance",severity="warn"}': '1x2000' } },
  DaypassModelRetired: { series: { 'daypass_problems{problem="retirement",severity="warn"}': '1x2000' } },
  DaypassAllKeysCoolingDown: { series: { daypass_upstream_keys_cooling_down: '2x2000' } },
  DaypassCapacityScarce: {
    series: { 'daypass_queue_seconds_count{model="gpt-6-sol",outcome="refused"}': '0+2x2000' },
  },
  DaypassDatabaseDown: { series: { 'daypass_dependency_up{dependency="database"}': '0x2000' } },
  DaypassSharedStateDown: { series: { 'daypass_dependency_up{dependency="shared_state"}': '0x2000' } },
  DaypassHealthCheckFailing: { series: { 'daypass_health_check{check="names"}': '0x2000' } },
  DaypassRecordsWaiting: { series: { daypass_journal_oldest_seconds: '0+60x2000' } },
  DaypassRecordsLost: { series: { daypass_requests_without_record: '5x20 6x2000' } },
  DaypassDiskFull: { series: { daypass_free_disk_bytes: '900000000x2000' } },
  DaypassDiskFillsUp: { at: '8h', series: { daypass_free_disk_bytes: '19000000000-15000000x2000' } },
  DaypassBackupFailing: { series: { daypass_backup_failed: '1x2000' } },
  DaypassConfigRefused: { series: { daypass_config_refused: '1x2000' } },
  DaypassCanaryTakenBack: { series: { daypass_config_canary_taken_back: '1x2000' } },
  DaypassJobsLate: { series: { 'daypass_health_check{check="jobs"}': '0x2000' } },
  DaypassJobsFailed: { series: { daypass_jobs: '1x2000' } },
  DaypassBackgroundFailures: { at: '70m', series: { daypass_background_failures_total: '0+1x2000' } },
  DaypassLogLinesLost: { series: { daypass_log_writes_lost_total: '7x20 9x2000' } },
  DaypassTelemetryDropped: { series: { daypass_telemetry_dropped_total: '3x20 9x2000' } },
  DaypassFlagsOpen: { series: { daypass_order_flags_open: '1x2000' } },
  DaypassPaymentsUnconfirmed: { series: { daypass_payment_unconfirmed_oldest_seconds: '0+60x2000' } },
  DaypassPaymentProviderFailing: {
    series: { 'daypass_payment_provider_calls_total{result="temporary"}': '0+7x2000' },
  },
  DaypassRefundsPending: { at: '25h', series: { daypass_refunds_pending: '1x2000' } },
  DaypassWaitingListGrows: { at: '26h', series: { daypass_sales_waiting: '4+0.01x2000' } },
  DaypassMailFailing: { series: { daypass_mail_waiting_oldest_seconds: '0+60x2000' } },
};

/** The healthy series with those replaced that a failure names: by metric, or by metric and label. */
function seriesWith(changes: Readonly<Record<string, string>>) {
  return Object.entries(healthy).map(([series, values]) => {
    const change = Object.entries(changes).find(([name]) => {
      const [metric = '', label = ''] = name.split(/[{}]/);
      return series.startsWith(`${metric}{`) && series.includes(label);
    });
    return { series, values: change?.[1] ?? values };
  });
}

const firing = 'count by (alertname) (ALERTS{alertstate="firing"})';

function evaluation(at: string, changes: Readonly<Record<string, string>>, expected: readonly string[]): RuleTest {
  const exp_samples = expected.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 }));
  return {
    interval: '1m',
    input_series: seriesWith(changes),
    promql_expr_test: [{ expr: firing, eval_time: at, exp_samples }],
  };
}

/** What the rules do, each with its tests. @param job of the instances that the ServiceMonitor finds */
export function ruleTests(job: string): Readonly<Record<string, readonly RuleTest[]>> {
  const down = evaluation('30m', {}, ['DaypassDown']);
  const monitored = `up{instance="10.1.2.3:9080",job="${job}",namespace="daypass",pod="daypass-1"}`;
  return {
    'are silent while everything works': ['30m', '7h', '30h'].map((at) => evaluation(at, {}, [])),
    'say that a gateway is down when service discovery finds no instance any more': [
      evaluation('20m', { up: '1x5', daypass_build_info: '1x5' }, ['DaypassDown']),
    ],
    'are silent about instances that nothing scrapes while their metrics arrive by OTLP': [
      evaluation('30m', { up: '_x2000' }, []),
    ],
    'say that a gateway is down when none of those that nothing scrapes reports any more': [
      evaluation('20m', { up: '_x2000', daypass_build_info: '1x5' }, ['DaypassDown']),
    ],
    'know an instance by the job that the ServiceMonitor sets, not by that of its service': [
      { ...down, input_series: [...down.input_series, { series: monitored, values: '1x20 0x2000' }] },
    ],
    'fire on their own failure, and on no other': Object.entries(failures).map(([alert, { at = '30m', series }]) =>
      evaluation(at, series, [alert]),
    ),
  };
}

/** The job that the ServiceMonitor of deploy/kubernetes sets. */
export async function monitorJob(): Promise<string> {
  const file = new URL('../../deploy/kubernetes/service-monitor.yaml', import.meta.url);
  const monitor = parse(await readFile(file, 'utf8'));
  return monitor.spec.endpoints[0].relabelings[0].replacement;
}

/** @throws Error with what promtool has against the file of rules */
export async function checkRules(promtool: string, rules: string): Promise<void> {
  await explained(run(promtool, ['check', 'rules', rules]));
}

/** @throws Error with what promtool says when the rules do something else */
export async function evaluateRules(promtool: string, rules: string, tests: readonly RuleTest[]): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'daypass-alerts-'));
  try {
    const file = join(folder, 'tests.yml');
    await writeFile(file, stringify({ rule_files: [rules], evaluation_interval: '1m', tests }));
    await explained(run(promtool, ['test', 'rules', file]));
  } finally {
    await rm(folder, { recursive: true });
  }
}

async function explained(command: Promise<unknown>): Promise<void> {
  try {
    await command;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(stdout + stderr, { cause: error });
  }
}
