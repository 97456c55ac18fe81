/**
 * A page, in two languages and in the layout of the gateway, at `/board`: what the operator wants readers to know.
 *
 *     plugins: [./docs/examples/board/index.ts]
 *     board: { news: [Maintenance on Sunday at 02:00 UTC.] }
 */
import { fileURLToPath } from 'node:url';
import { defineSection, defineTexts, type GatewayPlugin } from 'daypass';

const section = defineSection({
  name: 'board',
  schema: {
    type: 'object',
    description: 'The notice board.',
    default: {},
    properties: {
      news: { type: 'array', items: { type: 'string', minLength: 1 }, default: [], description: 'Lines to show.' },
    },
    additionalProperties: false,
  },
});

// Larger plugins keep each language in a JSON file.
const texts = defineTexts({
  en: { 'board.title': 'Notice board', 'board.empty': 'Nothing new.' },
  id: { 'board.title': 'Papan pengumuman', 'board.empty': 'Belum ada kabar.' },
});

export const plugin: GatewayPlugin = {
  name: 'board',
  register({ gateway }) {
    gateway.section(section);
    gateway.texts(texts);
    gateway.page({
      path: '/board',
      role: 'public',
      title: 'board.title',
      navigation: 'board.title',
      template: fileURLToPath(new URL('./board.eta', import.meta.url)),
      show: ({ host }) => ({ news: host.section(section).news }),
    });
  },
};
