import { version } from '#core/platform/version.ts';
import type { Gauge } from './gauge.ts';

/** Which version runs where: always 1, with the versions as labels, as Prometheus has it. */
export const buildGauge: Gauge = {
  name: 'build_info',
  description: 'Always 1; the labels have the versions of the gateway and of Node.js.',
  labels: ['version', 'node'],
  read: () => [{ value: 1, labels: { version, node: process.versions.node } }],
};
