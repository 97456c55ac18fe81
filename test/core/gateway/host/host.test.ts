import { describe, expect, it } from 'vitest';
import type { Catalog } from '#core/config/catalog/catalog.ts';
import { createHost, type Services } from '#core/gateway/host/host.ts';
import { read } from '../../config/fixture.ts';

const serviceOf = (yaml: string) => createHost({} as Services, read(yaml), {} as Catalog).service;

describe('the base URL of the service', () => {
  it.each([
    ['is what gateway.yaml says', 'service: { base_url: "https://ai.example.com" }', 'https://ai.example.com'],
    ['has no trailing slash', 'service: { base_url: "https://example.com/ai//" }', 'https://example.com/ai'],
    ['is this machine by default', 'listen: { port: 9000 }', 'http://localhost:9000'],
    ['is this machine when it is empty', 'service: { base_url: "${BASE_URL:-}" }', 'http://localhost:8080'],
  ])('%s', (_case, yaml, url) => {
    expect(serviceOf(yaml).baseUrl).toBe(url);
  });
});

describe('the slug of the service', () => {
  it.each([
    ['is its name in lower case', 'name: Daypass', 'daypass'],
    ['joins words by hyphens', 'name: " Rumah  AI (beta)! "', 'rumah-ai-beta'],
    ['has no accents', 'name: Café Ünal', 'cafe-unal'],
    ['is the key prefix when the name has no letter that a header can carry', 'name: 日本, prefix: jp', 'jp'],
  ])('%s', (_case, service, slug) => {
    expect(serviceOf(`service: { ${service} }`).slug).toBe(slug);
  });
});
