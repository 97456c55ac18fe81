import { describe, expect, it } from 'vitest';
import type { Catalog } from '#core/catalog/catalog.ts';
import { createHost, type Services } from '#core/host.ts';
import { read } from './config/fixture.ts';

const baseUrlOf = (yaml: string) => createHost({} as Services, read(yaml), {} as Catalog).service.baseUrl;

describe('where users reach the gateway', () => {
  it.each([
    ['is what gateway.yaml says', 'service: { base_url: "https://ai.example.com" }', 'https://ai.example.com'],
    ['has no slash at its end', 'service: { base_url: "https://example.com/ai//" }', 'https://example.com/ai'],
    ['is this machine when nothing is said', 'listen: { port: 9000 }', 'http://localhost:9000'],
    ['is this machine when it is empty', 'service: { base_url: "${BASE_URL:-}" }', 'http://localhost:8080'],
  ])('%s', (_case, yaml, url) => {
    expect(baseUrlOf(yaml)).toBe(url);
  });
});
