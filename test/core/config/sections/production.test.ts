import { describe, expect, it } from 'vitest';
import { isPublicDemo, findProductionReason } from '#core/config/sections/production.ts';
import { findProductionNotices } from '#core/extension/validation/production-notices.ts';
import { read } from '../fixture.ts';

describe('a public URL', () => {
  it.each([
    ['http://localhost:8080', true],
    ['http://LOCALHOST.:8080', true],
    ['http://shop.localhost', true],
    ['http://127.0.0.1', true],
    ['http://127.1:80', true],
    ['http://[::1]:8080', true],
    ['https://ai.example.com', false],
    ['http://192.168.1.5:8080', false],
    ['http://gateway.lan', false],
    ['http://gateway', false],
    ['http://0.0.0.0:8080', false],
    ['http://localhost.example.com', false],
    ['http://127.0.0.1.nip.io', false],
    ['http://[fe80::1]', false],
    ['http://[::]:8080', false],
  ])('%s is this machine: %s', (url, isThisMachine) => {
    const config = read(`service: { base_url: "${url}" }`);
    expect(findProductionReason(config, false)).toEqual(
      isThisMachine ? undefined : expect.objectContaining({ because: 'while service.base_url is not this machine' }),
    );
  });

  it('is this machine when it is empty or not set', () => {
    expect(findProductionReason(read('service: { base_url: "" }'), false)).toBeUndefined();
    expect(findProductionReason(read(''), false)).toBeUndefined();
  });

  it('of another machine has demos only by an explicit option', () => {
    const config = read('service: { base_url: "https://ai.example.com", unsafe_public_demo: true }');
    expect(findProductionReason(config, false)).toBeUndefined();
    expect(isPublicDemo(config, false)).toBe(true);
  });

  it('of this machine is no public demo, whatever the option says', () => {
    expect(isPublicDemo(read('service: { unsafe_public_demo: true }'), false)).toBe(false);
  });

  it('counts for nothing with NODE_ENV=production, which refuses demos anyway', () => {
    expect(findProductionReason(read(''), true)).toMatchObject({ because: 'with NODE_ENV=production' });
  });
});

describe('a notice', () => {
  it('is not made on the own machine', () => {
    expect(findProductionNotices(read('service: { contact: "mailto:you@example.com" }'), false)).toEqual([]);
  });

  it('says that other machines reach demos when the listener is open and the public URL is not known', () => {
    const [notice] = findProductionNotices(read('listen: { host: 0.0.0.0 }'), false);
    expect(notice).toContain('set service.base_url to its public URL; demos are then refused');
    expect(findProductionNotices(read('listen: { host: "::1" }'), false)).toEqual([]);
  });

  it('says that strangers have the demos that the option allows', () => {
    const yaml = 'service: { base_url: "https://ai.example.com", unsafe_public_demo: true }';
    expect(findProductionNotices(read(yaml), false)).toEqual([
      expect.stringContaining('service.unsafe_public_demo is true'),
    ]);
  });
});
