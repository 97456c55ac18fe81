/** As long as real ones are, on every page that shows such a thing. */
export const longNames = {
  model: 'accounts/fireworks/models/llama4-maverick-instruct-basic',
  backup: 'meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8-turbo-2026-11-preview-128k',
  email: `maximiliana.alexandrine.hohenzollern-sigmaringen@${'customer-success.'.repeat(3)}engineering.example.com`,
  person: 'Raden Ajeng Maximiliana Alexandrine Siti Nurhaliza Kusumawardhani-Hohenzollern von Sigmaringen',
  seller: 'PT Sejahtera Abadi Makmur Sentosa Nusantara Raya Jaya Utamaa',
} as const;
