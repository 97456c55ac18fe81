import { startAnsweringUpstream } from '../../../support/answering-upstream.ts';
import { startGateway, type TestGateway, wholePipeline } from '../../../support/gateway.ts';

/** A gateway with a model that answers, dp/demo, and one that fails, dp/other. */
export async function startDemoGateway(pipeline = wholePipeline): Promise<TestGateway> {
  const demo = await startAnsweringUpstream();
  const yaml = `${pipeline}
upstreams: { demo: { format: chat, base_url: "${demo.baseUrl}" } }
models:
  demo: { routes: [demo/chatty] }
  other: { routes: [demo/fail-503] }
`;
  const gateway = await startGateway({ yaml });
  return {
    ...gateway,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await demo[Symbol.asyncDispose]();
    },
  };
}
