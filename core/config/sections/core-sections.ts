import { isIP } from 'node:net';
import { bounds } from '#core/platform/bounds.ts';
import { computeCapacity, computeMemoryLimits } from '#core/platform/memory/limits.ts';
import { array, boolean, integer, number, object, string } from '#core/platform/schema.ts';
import { isTimeZone } from '#core/platform/timing/time-zone.ts';
import { defineSection, type Section } from '../section.ts';

export const defaultStageTimeout = 60; // default of `listen.stage_timeout`, in seconds

const exampleContact = 'mailto:you@example.com'; // as in the gateway.yaml that comes with the gateway

export const service = defineSection({
  name: 'service',
  schema: object({ default: {} }, 'How the gateway appears to its users.', {
    name: string(
      { minLength: 1, maxLength: 60, default: 'Daypass' },
      'Name of the service. Header names begin with it: `x-daypass-notes`.',
    ),
    prefix: string(
      { pattern: '^[a-z][a-z0-9]{0,15}$', default: 'dp' },
      'First part of API keys (`dp-…`) and of models’ public names (`dp/…`): 1 to 16 lower-case letters and digits.',
    ),
    base_url: string(
      { pattern: '^(https?://[^\\s/]+|$)' },
      'Public URL without /v1, such as https://ai.example.com. Default, also when empty: this machine, at the port of `listen`.',
    ),
    unsafe_public_demo: boolean(
      { default: false },
      'Allows sandbox payments, demo upstreams and local sign-in even if base_url is not this machine: strangers can then use and buy everything for free. Every page says so. For demonstrations only; refused with NODE_ENV=production.',
    ),
    contact: string(
      { pattern: '^(mailto:|https?://)\\S+$' },
      'Where users get support: a mailto: or https: URL, such as https://wa.me/628111002233 for WhatsApp.',
    ),
    terms: string(
      { pattern: '^(https?://|/)\\S+$' },
      'Terms of service: a URL, or a path of this service. Pages link to it in their footer. Default: the page made from pages/terms.en.md and terms.id.md, if there is one.',
    ),
    privacy: string(
      { pattern: '^(https?://|/)\\S+$' },
      'Privacy policy: a URL, or a path of this service. Pages link to it in their footer. Default: the page made from pages/privacy.en.md and privacy.id.md, if there is one.',
    ),
    time_zone: string(
      { minLength: 1, default: 'Asia/Jakarta' },
      'Time zone of emails, of reports for the operator, and of pages for readers whose browser has not reported another one, such as Asia/Jakarta or UTC.',
    ),
  }),
  check({ base_url, contact, time_zone, unsafe_public_demo }, report, { isProduction, production }) {
    if (contact === exampleContact && production !== undefined)
      report(
        ['service', 'contact'],
        `is the example ${exampleContact}, ${production.because}, so customers who need help would reach nobody`,
        `set an address that you read${production.unless}`,
      );
    // Links to shops contain a word instead of a number: wa.me/message/…, wa.me/qr/….
    const isNumber = /^https?:\/\/wa\.me(?:\/(?:[^a-z]|$)|$)/.test(contact ?? '');
    if (isNumber && !/^https:\/\/wa\.me\/[1-9]\d{6,14}(?:\?|$)/.test(contact ?? ''))
      report(
        ['service', 'contact'],
        `is "${contact}", which does not lead to a WhatsApp account`,
        'write https://wa.me/ and the number with its country code, in digits only: https://wa.me/628111002233',
      );
    if (unsafe_public_demo && isProduction)
      report(['service', 'unsafe_public_demo'], 'is true with NODE_ENV=production', 'remove it, or unset NODE_ENV');
    if (!isTimeZone(time_zone))
      report(
        ['service', 'time_zone'],
        `is "${time_zone}", which is not a time zone`,
        'use a name such as Asia/Jakarta',
      );
    if (base_url === undefined || base_url === '') return;
    const path = ['service', 'base_url'];
    if (!isBaseUrl(base_url))
      report(path, 'is not a valid base URL', 'use only scheme, host, port and path, such as https://ai.example.com');
    else if (/\/v1\/*$/.test(base_url)) report(path, 'ends in /v1, which the gateway appends', 'remove /v1');
  },
});

export const listen = defineSection({
  name: 'listen',
  fixed: ['host', 'port'],
  schema: object({ default: {} }, 'The socket, and limits for clients. Host and port take effect at the next start.', {
    host: string(
      { minLength: 1, default: '127.0.0.1' },
      'Address to listen on; "::" for all interfaces, 0.0.0.0 for IPv4 alone. On machines without IPv6, "::" means 0.0.0.0.',
    ),
    port: integer({ minimum: 0, maximum: 65_535, default: 8080 }, 'TCP port; 0 for any free port.'),
    max_body_bytes: integer(
      { minimum: 1024, maximum: 1_073_741_824, default: bounds.requestBody },
      'Maximum bytes of a request body, after decompression.',
    ),
    header_timeout: number(
      { minimum: 1, maximum: 300, default: 15 },
      'Seconds within which the headers of a request must arrive.',
    ),
    body_timeout: number(
      { minimum: 1, maximum: 600, default: 60 },
      'Seconds without a byte of the request body before the request is rejected.',
    ),
    body_rate: integer(
      { minimum: 1, maximum: 1_000_000_000, default: 10_000 },
      'Bytes per second that a request body must reach on average, after the first body_timeout seconds. A body of 30 MB may take 51 minutes by default.',
    ),
    write_timeout: number(
      { minimum: 1, maximum: 3600, default: 300 },
      'Seconds for which a client may read nothing of the response before its connection is closed.',
    ),
    stage_timeout: number(
      { minimum: 1, maximum: 3600, default: defaultStageTimeout },
      'Seconds that a stage may take to enter, leave or continue a body before the client gets an error. Stages with their own longer limits, such as upstream, keep them.',
    ),
    keep_alive_timeout: number(
      { minimum: 1, maximum: 7200, default: 130 },
      'Seconds an idle connection stays open; must exceed the idle timeout of a proxy in front; otherwise, the proxy sends requests on connections that are closing.',
    ),
    drain_timeout: number(
      { minimum: 0, maximum: 3600, default: 30 },
      'Seconds that requests in flight may take to finish after SIGTERM, including the notice period; never less than that.',
    ),
    notice_period: number(
      { minimum: 0, maximum: 300, default: 5 },
      'Seconds for which /readyz fails after SIGTERM while new requests are still served, so that load balancers stop sending them. It must be longer than a load balancer takes to notice; 0 if there is none.',
    ),
    max_connections: integer(
      { minimum: 1, maximum: 1_000_000 },
      'Maximum number of open client connections across all workers; further ones get 503. Default and upper limit: the number that the open-file limit (ulimit -n) allows each worker.',
    ),
    cors_origins: array(
      { items: string(), default: ['*'] },
      'Origins whose pages may call the API from a browser, with a key in a header and never with cookies, such as https://app.example.com. Default: any (*). An empty list allows none.',
    ),
    trusted_proxies: array(
      { items: string(), default: [] },
      'Addresses or CIDR ranges of proxies whose X-Forwarded-For, -Proto and -Host, or Forwarded, are trusted.',
    ),
  }),
  check({ host, cors_origins, trusted_proxies }, report) {
    const mistake = findHostMistake(host);
    if (mistake !== undefined) report(['listen', 'host'], ...mistake);
    for (const [index, origin] of cors_origins.entries()) {
      if (origin === '*' || URL.parse(origin)?.origin === origin) continue;
      report(['listen', 'cors_origins', index], 'is not an origin', 'use one such as https://app.example.com, or *');
    }
    for (const [index, proxy] of trusted_proxies.entries()) {
      if (!isRange(proxy))
        report(['listen', 'trusted_proxies', index], 'is not an IP address or range', 'use one such as 10.0.0.0/8');
    }
  },
  notices({ max_body_bytes: maxBodyBytes }, all) {
    const capacity = Math.floor(computeCapacity(computeMemoryLimits(all.get(memory).max_bytes)));
    return maxBodyBytes > capacity
      ? [`listen.max_body_bytes is ${maxBodyBytes}, but the memory has room only for bodies of ${capacity} bytes`]
      : [];
  },
});

export const data = defineSection({
  name: 'data',
  fixed: true,
  schema: object({ default: {} }, 'Data on disk. Changes take effect at the next start.', {
    folder: string({ minLength: 1, default: './data' }, 'Data folder, relative to gateway.yaml.'),
    min_free_bytes: integer(
      { minimum: 0, default: 536_870_912 },
      'Bytes that must be free on its disk; with less, `/readyz?verbose` is degraded and the operator pages warn.',
    ),
  }),
});

export const memory = defineSection({
  name: 'memory',
  fixed: true,
  schema: object({ default: {} }, 'Memory of the process. Changes take effect at the next start.', {
    max_bytes: integer(
      { minimum: 268_435_456, maximum: 1_099_511_627_776 },
      'Maximum bytes of memory for the gateway with all of its workers. Default and upper limit: the limit of its container, or the memory of the machine. Requests that do not fit are refused with 503.',
    ),
  }),
});

export const plugins = defineSection({
  name: 'plugins',
  fixed: true,
  schema: array(
    { default: [], items: string({ minLength: 1 }) },
    'Third-party plugins: paths that begin with ./, or names of installed packages. Changes take effect at the next start.',
  ),
});

/** The sections that exist without any plugin. */
export const coreSections: readonly Section[] = [service, listen, data, memory, plugins];

function isRange(text: string): boolean {
  const [address = '', prefix, ...surplus] = text.split('/');
  const version = isIP(address);
  if (version === 0 || surplus.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (version === 6 ? 128 : 32));
}

function isBaseUrl(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && url.username === '' && url.password === '' && !/[?#]/.test(text);
}

export function findHostMistake(host: string): readonly [wrong: string, right: string] | undefined {
  const right = 'write only an address, such as 127.0.0.1, or 0.0.0.0 for all interfaces';
  if (isIP(host) !== 0) return undefined;
  if (host.includes('://')) return ['is a URL', right];
  if (/^\[.*\]$/.test(host)) return ['has brackets around the address', 'remove the brackets'];
  if (/:\d+$/.test(host)) return ['contains a port', 'put the port under `port`'];
  return /^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(host) ? undefined : ['is not a valid address', right];
}
