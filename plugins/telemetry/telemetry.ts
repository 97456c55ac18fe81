import { sendsSignal, type TelemetrySignal, telemetrySection } from '#core/config/sections/telemetry-section.ts';
import { getMetricSource } from '#core/gateway/health/metric-source.ts';
import type { Host } from '#core/gateway/host/host.ts';
import type { Exchange } from '#core/gateway/pipeline/exchange.ts';
import type { Outcome } from '#core/gateway/pipeline/stage.ts';
import { getRecordSpool, type RecordSpool } from '#core/gateway/records/record-spool.ts';
import { guardListener, noteFailure } from '#core/platform/background.ts';
import { waitForFirst } from '#core/platform/timing/deadline.ts';
import { version } from '#core/platform/version.ts';
import { Collector, parsePairs } from './collector.ts';
import { toOtlpMetrics } from './metrics-report.ts';
import { toAttributes, toNanoseconds, type Resource } from './otlp.ts';
import { toLogRecords } from './record-logs.ts';
import { SignalSender } from './signal-sender.ts';
import { SpanQueue } from './span-queue.ts';
import { createSpans } from './spans.ts';

const flushTimeoutMs = 3_000; // records wait on disk for the next start
const searchIntervalMs = 10_000;

export class Telemetry implements AsyncDisposable {
  readonly #host: Host;
  readonly #senders: Readonly<Record<TelemetrySignal, SignalSender>>;
  readonly #sampleRate: number;
  readonly #spans: SpanQueue | undefined;
  readonly #spool: RecordSpool | undefined;
  readonly #startedAt = toNanoseconds(Date.now() - process.uptime() * 1000);
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #shipping: Promise<void> | undefined;
  #wake: () => void = () => {};
  #reporting: Promise<void> | undefined;

  constructor(host: Host) {
    const settings = host.section(telemetrySection);
    const collector = new Collector(settings, describeResource(host));
    const createSender = (signal: TelemetrySignal) => new SignalSender(collector, signal, host.log);
    this.#host = host;
    this.#senders = {
      traces: createSender('traces'),
      metrics: createSender('metrics'),
      records: createSender('records'),
    };
    this.#sampleRate = settings.sample;
    if (sendsSignal(settings, 'traces')) this.#spans = new SpanQueue(this.#senders.traces, host.log);
    if (sendsSignal(settings, 'metrics')) {
      const report = guardListener(host.log, 'sending metrics', () => this.#reportMetrics());
      this.#timer = setInterval(report, settings.metrics_interval * 1000).unref();
    }
    this.#spool = getRecordSpool(host).spool;
    if (this.#spool !== undefined) this.#shipping = this.#sendRecords(this.#spool);
  }

  trace(exchange: Exchange, outcome: Outcome): void {
    if (this.#spans === undefined) return;
    const spans = createSpans(exchange, outcome, this.#sampleRate);
    if (spans.length > 0) this.#spans.add(spans);
  }

  countDropped(signal: TelemetrySignal): number {
    return this.#senders[signal].dropped + (signal === 'records' ? (this.#spool?.dropped ?? 0) : 0);
  }

  get waiting(): number {
    return this.#spool?.waiting ?? 0;
  }

  /** Skips a report while the last one is being sent, which loses nothing, because sums are cumulative. */
  #reportMetrics(): Promise<void> {
    this.#reporting ??= this.#sendMetrics().finally(() => (this.#reporting = undefined));
    return this.#reporting;
  }

  async #sendMetrics(): Promise<void> {
    const families = (await getMetricSource(this.#host).read?.()) ?? [];
    const metrics = toOtlpMetrics(families, this.#startedAt, toNanoseconds(Date.now()));
    if (metrics.length > 0) await this.#senders.metrics.deliver(metrics);
  }

  async #sendRecords(spool: RecordSpool): Promise<void> {
    const { records } = this.#senders;
    spool.onAdded = () => this.#wake();
    while (!records.isClosing) {
      try {
        if (!(await this.#sendOldestFile(spool))) await this.#waitForRecords();
      } catch (error) {
        noteFailure(this.#host.log, 'sending request records', error);
        await records.pause(searchIntervalMs);
      }
    }
  }

  /** @returns false if no records are waiting */
  async #sendOldestFile(spool: RecordSpool): Promise<boolean> {
    const oldest = spool.oldest();
    if (oldest === undefined) return false;
    for await (const lines of oldest.read()) {
      const logs = lines.flatMap((line) => toLogRecords(line, Date.now()));
      // The file is kept for the next start.
      if (logs.length > 0 && !(await this.#senders.records.deliver(logs))) return true;
    }
    await oldest.remove();
    return true;
  }

  async #waitForRecords(): Promise<void> {
    const added = new Promise<void>((resolve) => (this.#wake = resolve));
    await Promise.race([added, this.#senders.records.pause(searchIntervalMs)]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    for (const sender of Object.values(this.#senders)) sender.close();
    const finalSends = [this.#spans?.[Symbol.asyncDispose](), this.#timer && this.#reportMetrics(), this.#shipping];
    await waitForFirst([Promise.allSettled(finalSends)], flushTimeoutMs);
  }
}

function describeResource(host: Host): Resource {
  const { service_name: name, resource } = host.section(telemetrySection);
  return {
    attributes: toAttributes({
      'service.name': name || host.service.slug,
      'service.version': version,
      'service.instance.id': host.instance,
      'telemetry.sdk.name': 'daypass',
      'telemetry.sdk.language': 'nodejs',
      'telemetry.sdk.version': version,
      ...Object.fromEntries(parsePairs(resource)),
    }),
  };
}
