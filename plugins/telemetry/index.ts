import { sendsSignal, telemetrySection, telemetrySignals } from '#core/config/sections/telemetry-section.ts';
import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { gauge, gaugeBy } from '#core/gateway/health/gauge.ts';
import type { Telemetry } from './telemetry.ts';

/** Sends traces, metrics and request records to an OpenTelemetry collector. Its modules are loaded only if one is configured. */
export const plugin: GatewayPlugin = {
  name: 'telemetry',
  register(server) {
    const { gateway } = server;
    let telemetry: Telemetry | undefined;
    gateway.section(telemetrySection);
    gateway.observer({
      name: 'telemetry',
      isWanted: (host) => sendsSignal(host.section(telemetrySection), 'traces'),
      done: (exchange, outcome) => telemetry?.trace(exchange, outcome),
    });
    gateway.gauge(
      gaugeBy(
        ['signal'],
        'telemetry_dropped_total',
        'Spans, metric reports and request records that never reached the collector, since startup.',
        () => telemetrySignals.map((signal) => [signal, telemetry?.countDropped(signal) ?? 0]),
      ),
    );
    gateway.gauge(
      gauge('telemetry_waiting_records', 'Request records waiting for the collector.', () => telemetry?.waiting),
    );
    // Starts only once there is a database, so `daypass check` sends no telemetry.
    server.ext('onPreStart', async () => {
      const host = server.host();
      if (host.section(telemetrySection).endpoint === '') return;
      const { Telemetry } = await import('./telemetry.ts');
      telemetry = host.keep('telemetry', () => new Telemetry(host));
    });
  },
};
