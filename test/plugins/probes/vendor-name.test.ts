import { expect, it } from 'vitest';
import { deriveUpstreamName, deriveKeyVariable } from '../../../plugins/probes/vendor-name.ts';

it.each([
  ['https://api.example.com/v1', 'example', 'EXAMPLE_API_KEY'],
  ['https://api.302.ai/v1', '302', 'VENDOR_302_API_KEY'],
  ['https://my-host/v1', 'my-host', 'MY_HOST_API_KEY'],
  ['http://127.0.0.1:8000/v1', 'vendor', 'VENDOR_API_KEY'],
  ['http://[::1]:8000/v1', 'vendor', 'VENDOR_API_KEY'],
])('%s is the upstream %s, with its key in %s', (url, name, variable) => {
  expect([deriveUpstreamName(url), deriveKeyVariable(name)]).toEqual([name, variable]);
});
