import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { journalGauge, lostRecordsGauge } from './gauges.ts';
import { partitionJob } from './partitions.ts';
import { logStage } from './stage.ts';

/** The record of every request: the stage that writes it and the job that keeps its table in shape. */
export const plugin: GatewayPlugin = {
  name: 'log',
  register(server) {
    server.gateway.stage(logStage);
    server.gateway.job(partitionJob);
    server.gateway.gauge(journalGauge);
    server.gateway.gauge(lostRecordsGauge);
  },
};
