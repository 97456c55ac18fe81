import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type TestGateway, wholePipeline } from '../../../support/gateway.ts';
import { PageClient } from '../../../support/page-client.ts';

const demo = (service: string) => `${wholePipeline}
service: ${service}
upstreams: { demo: { vendor: demo } }
models: { demo: { routes: [demo/chatty] } }
`;
const allowed = demo('{ base_url: "https://ai.example", unsafe_public_demo: true }');

let gateway: TestGateway;
beforeAll(async () => {
  gateway = await startGateway({ yaml: allowed });
}, 60_000);
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
});

describe('a demonstration that strangers can reach', () => {
  it.each(['/', '/sign-in', '/status', '/docs', '/nothing-here', '/preferences'])(
    'shows its warning on %s',
    async (path) => {
      const english = await new PageClient(gateway.url).get(path, { 'accept-language': 'en' });
      expect(english.text).toContain('This is a demonstration.');
      const indonesian = await new PageClient(gateway.url).get(path, { 'accept-language': 'id' });
      expect(indonesian.text).toContain('Ini hanya demonstrasi.');
    },
  );

  it('ends by a reload only as a whole: without the option, the running configuration stays', async () => {
    await gateway.write(demo('{ base_url: "https://ai.example" }'));
    await expect(gateway.gateway.reload()).rejects.toThrow('upstreams.demo: is a demo upstream');
    expect(gateway.gateway.host.service.isPublicDemo).toBe(true);
    await gateway.write(`${demo('{}')}\n`);
    await gateway.gateway.reload();
    expect((await new PageClient(gateway.url).get('/')).text).not.toContain('This is a demonstration.');
  });

  it('is not begun by a reload of a gateway with demos', async () => {
    await gateway.write(demo('{ base_url: "https://shop.example" }'));
    await expect(gateway.gateway.reload()).rejects.toThrow('service.base_url is not this machine');
    expect(gateway.gateway.host.service.baseUrl).not.toContain('shop.example');
    expect(gateway.gateway.host.isProduction).toBe(false);
  });
});
