// Tool loops of three turns with JavaScript frameworks and their defaults. The argument names the client. Prints one JSON
// line for each loop.
import process from 'node:process';

const [, , client] = process.argv;
const environment = process.env;
const readers = environment.LOOP_PDF_MODELS.split(',');
const modules = { ai: './ai-sdk.mjs', langgraph: './langgraph.mjs', openai: './agents-socket.mjs' };
const { play } = await import(modules[client.split('-')[0]]);

for (const model of environment.LOOP_MODELS.split(',')) {
  for (const stream of [false, true]) {
    const loop = {
      url: environment.LOOP_URL,
      key: environment.LOOP_KEY,
      model,
      stream,
      question: environment.LOOP_QUESTION,
      // Base64.
      image: environment.LOOP_IMAGE,
      pdf: readers.includes(model) ? environment.LOOP_PDF : undefined,
    };
    const answer = await play(client, loop).catch((error) => `${error} ${error.cause ?? ''}`.replaceAll('\n', ' '));
    console.log(JSON.stringify({ model, stream, answer }));
  }
}
