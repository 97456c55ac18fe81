import type { GatewayPlugin } from '#core/extension/plugin.ts';
import { publicUrlDiagnosis } from './diagnosis.ts';
import { createEchoSocket } from './echo.ts';
import { createEndpoints } from './endpoints.ts';
import { issuePass } from './passes.ts';
import { passPath } from './paths.ts';

/** `daypass doctor --url`: tests the public address by calling paths that need no upstream. */
export const plugin: GatewayPlugin = {
  name: 'public-check',
  register({ gateway, host }) {
    for (const endpoint of createEndpoints(host)) gateway.endpoint(endpoint);
    gateway.socket(createEchoSocket(host));
    gateway.operatorRoute({ method: 'GET', path: passPath, handler: async () => issuePass(host()) });
    gateway.diagnosis(publicUrlDiagnosis);
  },
};
