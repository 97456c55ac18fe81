import { isLoopback } from '#core/platform/names/loopback.ts';
import { array, boolean, integer, object, string } from '#core/platform/schema.ts';
import { defineSection } from '../section.ts';
import { findHostMistake, listen } from './core-sections.ts';

const minTokenLength = 16;

export const operatorSection = defineSection({
  name: 'operator',
  fixed: ['enabled', 'host', 'port', 'socket'],
  schema: object(
    { default: {} },
    'A separate listener for metrics and route status. Only token and names can change without a restart.',
    {
      enabled: boolean({ default: true }, 'Whether the listener is enabled.'),
      host: string(
        { minLength: 1 },
        'Address to listen on. Default: 127.0.0.1. An address that other machines can reach requires a token.',
      ),
      port: integer(
        { minimum: 0, maximum: 65_535 },
        'TCP port. Default: 1000 above the port of `listen`. 0 for any free port.',
      ),
      socket: string(
        { minLength: 1, maxLength: 100 },
        'Path of a Unix socket, relative to the data folder, instead of host and port.',
      ),
      token: string(
        { writeOnly: true, minLength: minTokenLength, maxLength: 1_000, pattern: '^[!-~]+$' },
        'Bearer token that every request must send. Without one, every user of this machine has access.',
      ),
      names: array(
        { items: string({ pattern: '^(\\*\\.)?[A-Za-z0-9._-]+$' }), default: [] },
        'Host names allowed in the Host header, in addition to localhost and the listener’s own address, such as `gateway` in a container network. `*.svc` matches all names that end in `.svc`.',
      ),
    },
  ),
  check({ enabled, host, port, socket, token }, report, all) {
    if (!enabled) return;
    if (socket !== undefined && (host !== undefined || port !== undefined))
      report(['operator', 'socket'], 'is set together with host or port', 'use either a socket, or host and port');
    if (host !== undefined && !isLoopback(host) && token === undefined)
      report(
        ['operator', 'host'],
        'is reachable from other machines, and no token is set',
        'add operator.token, or listen on 127.0.0.1',
      );
    if (socket === undefined && port !== undefined && port !== 0 && port === all.get(listen).port)
      report(['operator', 'port'], 'is the port of listen', 'use another one');
    const mistake = host === undefined ? undefined : findHostMistake(host);
    if (mistake !== undefined) report(['operator', 'host'], ...mistake);
  },
});
