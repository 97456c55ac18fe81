import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { listen } from '#core/config/sections/core-sections.ts';
import { exitCodes } from '#core/platform/exit-codes.ts';
import { upstreamSchema } from '../../plugins/upstream/options.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');

const yaml = parse(read('deploy/container/gateway.yaml')) as {
  readonly listen: { readonly notice_period: number; readonly drain_timeout: number };
};
/** Seconds within which a gateway ends after SIGTERM: what still runs then is ended with an error, which takes up to two. */
const stopsWithin = ({ notice_period, drain_timeout }: typeof yaml.listen) =>
  Math.max(notice_period, drain_timeout) + 2;
const stops = stopsWithin(yaml.listen);
const properties = listen.schema.properties as Record<string, { readonly default?: unknown }>;
const byDefault = Object.fromEntries(
  Object.entries(properties).map(([name, { default: value }]) => [name, value]),
) as unknown as typeof yaml.listen & { readonly keep_alive_timeout: number };

const variables = [...read('deploy/container/gateway.yaml').matchAll(/\$\{(\w+)(:-)?/g)].map(([, name = '']) => name);

describe('compose.yaml', () => {
  const compose = parse(read('deploy/container/compose.yaml'), { merge: true }) as {
    readonly services: Record<
      string,
      { readonly ports?: readonly string[]; readonly stop_grace_period?: string; readonly environment?: object }
    >;
    readonly networks: {
      readonly inside: { readonly ipam: { readonly config: readonly { readonly subnet: string }[] } };
    };
  };

  it('publishes the port of the proxy and no other', () => {
    const published = Object.entries(compose.services).filter(([, { ports }]) => ports !== undefined);
    expect(published.map(([name, { ports }]) => [name, ports])).toEqual([['proxy', ['443:443']]]);
  });

  it('waits longer for a gateway than it needs to stop, sets its variables, and has the network that it trusts', () => {
    for (const name of ['gateway-1', 'gateway-2']) {
      const { stop_grace_period = '', environment = {} } = compose.services[name] ?? {};
      expect(Number.parseInt(stop_grace_period, 10)).toBeGreaterThan(stops);
      const optional = new Set(['PORT', 'PROXY_NETWORK']);
      expect(variables.filter((variable) => !optional.has(variable) && !(variable in environment))).toEqual([]);
    }
    expect(read('deploy/container/gateway.yaml')).toContain(compose.networks.inside.ipam.config[0]?.subnet);
  });
});

it('systemd starts nothing again that only an administrator can mend', () => {
  const [, codes = ''] = /^RestartPreventExitStatus=(.*)$/m.exec(read('deploy/systemd/daypass.service')) ?? [];
  expect(codes.split(' ').map(Number)).toEqual([exitCodes.usage, exitCodes.configuration]);
  // It is older than what could import the table.
  expect(read('core/main.mjs')).toContain(`process.exit(${exitCodes.configuration});`);
});

describe('what a gateway does by default', () => {
  it('is what the files for containers state', () => {
    expect(yaml.listen).toMatchObject({
      notice_period: byDefault.notice_period,
      drain_timeout: byDefault.drain_timeout,
    });
  });

  it('ends before systemd kills it, the minute that closing may take included', () => {
    const [, seconds] = /^TimeoutStopSec=(\d+)$/m.exec(read('deploy/systemd/daypass.service')) ?? [];
    expect(Number(seconds)).toBeGreaterThan(stopsWithin(byDefault) + 60);
  });

  it('lets each proxy notice a drain before requests are refused, and close idle connections first', () => {
    const haproxy = /inter (\d+)s fall (\d+)/.exec(read('deploy/proxies/haproxy.cfg')) ?? [];
    expect(Number(haproxy[1]) * Number(haproxy[2])).toBeLessThan(byDefault.notice_period);
    const caddy = /health_interval (\d+)s\s+health_timeout (\d+)s/.exec(read('deploy/proxies/Caddyfile')) ?? [];
    expect(Number(caddy[1]) + Number(caddy[2])).toBeLessThan(byDefault.notice_period);
    const apache = /hcinterval=(\d+) hcfails=(\d+)/.exec(read('deploy/proxies/apache.conf')) ?? [];
    expect(Number(apache[1]) * Number(apache[2])).toBeLessThan(byDefault.notice_period);
    const idle = [
      /keepalive_timeout (\d+)s/.exec(read('deploy/proxies/nginx.conf')),
      /keepalive (\d+)s/.exec(read('deploy/proxies/Caddyfile')),
      /ttl=(\d+)/.exec(read('deploy/proxies/apache.conf')),
      /[^_]idle_timeout: (\d+)s/.exec(read('deploy/proxies/envoy.yaml')),
      /idleConnTimeout: (\d+)s/.exec(read('deploy/proxies/traefik-routes.yaml')),
    ];
    for (const found of idle) expect(Number(found?.[1])).toBeLessThan(byDefault.keep_alive_timeout);
  });

  it('keeps idle connections longer than the pools of Caddy and Traefik do by default', () => {
    expect(byDefault.keep_alive_timeout).toBeGreaterThan(120);
  });

  it('ends a call before a proxy gives up waiting for it', () => {
    const { default: deadline } = upstreamSchema.properties['deadline'] as { readonly default: number };
    const patience = [
      /proxy_read_timeout (\d+)s/.exec(read('deploy/proxies/nginx.conf')),
      /^ProxyTimeout (\d+)$/m.exec(read('deploy/proxies/apache.conf')),
      /stream_idle_timeout: (\d+)s/.exec(read('deploy/proxies/envoy.yaml')),
    ];
    for (const found of patience) expect(Number(found?.[1])).toBeGreaterThan(deadline);
    const [, minutes] = /timeout server (\d+)m/.exec(read('deploy/proxies/haproxy.cfg')) ?? [];
    expect(Number(minutes) * 60).toBeGreaterThan(deadline);
  });
});

/** Lines of a configuration of HAProxy without the names of the instances and of resolving them. */
const settings = (path: string) =>
  read(path)
    .split('\n')
    .filter((line) => /^ {2}(?!default-server|server|#|parse-resolv-conf|hold valid)/.test(line));

it('HAProxy has the same settings in compose.yaml as in the example', () => {
  expect(settings('deploy/container/haproxy.cfg')).toEqual(settings('deploy/proxies/haproxy.cfg'));
});

it('proxies never forward to the port of the operator', () => {
  for (const path of globSync('deploy/proxies/*', { cwd: root }))
    expect([path, read(path).includes('9080')]).toEqual([path, false]);
});

it('every workflow says that it was not run by its authors', () => {
  for (const path of globSync('.github/workflows/*.yml', { cwd: root }))
    expect(read(path).split('\n')[0]).toMatch(/^# .*not run there/);
});
