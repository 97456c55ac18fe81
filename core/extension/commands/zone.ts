import { Option } from 'commander';
import { service } from '#core/config/sections/core-sections.ts';
import type { Host } from '#core/gateway/host/host.ts';
import { parseTimeZone } from './days.ts';

/** Options of a command that prints times. */
export interface ZoneOptions {
  readonly timeZone?: string;
}

export function zoneOption(): Option {
  return new Option('--time-zone <zone>', 'zone of days and times; default: service.time_zone').argParser(
    parseTimeZone,
  );
}

/** The zone in which a command prints times: its option, or else the service's. */
export function zoneOf(host: Pick<Host, 'section'>, { timeZone }: ZoneOptions): string {
  return timeZone ?? host.section(service).time_zone;
}
