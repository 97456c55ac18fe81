import { describe, expect, it } from 'vitest';
import { listen } from '#core/config/sections/core-sections.ts';
import { operatorSection } from '#core/config/sections/operator-section.ts';
import { formatOperatorAddress, resolveOperatorAddress } from '#core/gateway/operator-listener/address.ts';
import { mistakesIn, readYaml } from '../../business/accounts/yaml-fixture.ts';

const sections = [operatorSection, listen];
const stages = [{ name: 'any', description: 'Any.', options: { type: 'object' }, create: () => ({}) } as const];
const addressOf = (yaml: string) => {
  const config = readYaml(`pipeline: [any]\n${yaml}`, { sections, stages });
  return resolveOperatorAddress(config.get(operatorSection), config.get(listen).port, '/data');
};
const mistakes = (yaml: string) => mistakesIn(`pipeline: [any]\n${yaml}`, { sections, stages });

describe('the listener of the operator', () => {
  it.each([
    ['', { host: '127.0.0.1', port: 9080 }],
    ['listen: { port: 8081 }', { host: '127.0.0.1', port: 9081 }],
    ['listen: { port: 65000 }', { host: '127.0.0.1', port: 64000 }],
    ['listen: { port: 0 }', { host: '127.0.0.1', port: 0 }],
    ['operator: { port: 7000 }', { host: '127.0.0.1', port: 7000 }],
    ['operator: { host: 0.0.0.0, token: a-token-of-some-length }', { host: '0.0.0.0', port: 9080 }],
    ['operator: { socket: operator.sock }', { path: '/data/operator.sock' }],
    ['operator: { socket: /run/operator.sock }', { path: '/run/operator.sock' }],
    ['operator: { enabled: false, host: 0.0.0.0 }', undefined],
  ])('is where gateway.yaml says: %s', (yaml, address) => {
    expect(addressOf(yaml)).toEqual(address);
  });

  it.each([
    [{ host: '127.0.0.1', port: 9080 }, 'http://127.0.0.1:9080'],
    [{ host: '0.0.0.0', port: 9080 }, 'http://127.0.0.1:9080'],
    [{ host: '::', port: 9080 }, 'http://127.0.0.1:9080'],
    [{ host: 'fd00::7', port: 9080 }, 'http://[fd00::7]:9080'],
    [{ path: '/data/operator.sock' }, 'unix:/data/operator.sock'],
  ])('is shown as a URL: %o', (address, url) => {
    expect(formatOperatorAddress(address)).toBe(url);
  });

  it.each(['0.0.0.0', '::', '10.0.0.7', 'gateway', '::ffff:10.0.0.7'])('needs a token on %s', (host) => {
    expect(mistakes(`operator: { host: "${host}" }`)).toEqual([
      'gateway.yaml:2:19 operator.host: is reachable from other machines, and no token is set; add operator.token, or listen on 127.0.0.1',
    ]);
    expect(mistakes(`operator: { host: "${host}", token: a-token-of-some-length }`)).toEqual([]);
  });

  it.each(['127.0.0.1', '::1', 'localhost', '127.9.9.9'])('needs none on %s', (host) => {
    expect(mistakes(`operator: { host: "${host}" }`)).toEqual([]);
  });

  it.each([
    ['{ token: short }', 'operator.token: '],
    ['{ socket: a, port: 1 }', 'operator.socket: is set together with host or port'],
    ['{ port: 8080 }', 'operator.port: is the port of listen'],
    ['{ host: "http://localhost" }', 'operator.host: is a URL'],
    ['{ names: ["gateway:9080"] }', 'operator.names[0]: '],
  ])('is refused as %s', (operator, mistake) => {
    expect(mistakes(`operator: ${operator}`)).toContainEqual(expect.stringContaining(mistake));
  });
});
