import { createServer, type Server } from 'node:http';
import { setTimeout } from 'node:timers/promises';

/** A stream has so many chunks, and as many ms between two. */
const chunks = { count: 40, pause: 60 };

function chunk(content: string): string {
  return `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'model', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`;
}

/** What a client asks whom the upstream never answers. The server emits `asked`, and `left` when the connection has closed. */
export const endlessPrompt = 'Never answer.';

/** What a client asks whose stream breaks off behind its first word. */
export const brokenPrompt = 'Break off.';

/** Answers at once, or streams for some seconds, on a free port of this address. */
export async function startUpstream(host = '127.0.0.1'): Promise<Server> {
  const server = createServer(async (incoming, response) => {
    let body = '';
    for await (const part of incoming) body += String(part);
    if (body.includes(endlessPrompt)) {
      response.once('close', () => server.emit('left'));
      server.emit('asked');
      return;
    }
    if (!body.includes('"stream":true')) {
      const message = { role: 'assistant', content: 'Hello' };
      const choices = [{ index: 0, message, finish_reason: 'stop' }];
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ id: 'c', object: 'chat.completion', model: 'model', choices }));
      return;
    }
    response.setHeader('content-type', 'text/event-stream');
    for (let count = 0; count < chunks.count && !response.destroyed; count++) {
      response.write(chunk(`word ${count} `));
      await setTimeout(chunks.pause);
      if (body.includes(brokenPrompt)) response.destroy();
    }
    const end = {
      id: 'c',
      object: 'chat.completion.chunk',
      model: 'model',
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    };
    response.end(`data: ${JSON.stringify(end)}\n\ndata: [DONE]\n\n`);
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  return server;
}

export async function closeServer(server: Server): Promise<void> {
  server.closeAllConnections();
  await new Promise((closed) => server.close(closed));
}
