import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { backupCheck, backupGauges } from './backup-state.ts';
import { backupCommand } from './command.ts';
import { backupSection } from './section.ts';
import { backupJob } from './take-scheduled.ts';

/** Takes backups of the database and of records that are waiting for it, on a schedule or by command. */
export const plugin: GatewayPlugin = {
  name: 'backup',
  register({ gateway }) {
    gateway.section(backupSection);
    gateway.command(backupCommand);
    gateway.job(backupJob);
    gateway.healthCheck(backupCheck);
    for (const gauge of backupGauges) gateway.gauge(gauge);
  },
};
