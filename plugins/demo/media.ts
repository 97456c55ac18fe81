import { crc32, deflateSync } from 'node:zlib';

const size = 256; // pixels

/** Draws a square PNG with a gradient. Source: W3C, "Portable Network Graphics". @param seed decides the colours */
export function drawPng(seed: Buffer): Buffer {
  const rows = Buffer.alloc(size * (1 + size * 3));
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const at = y * (1 + size * 3) + 1 + x * 3;
      for (let channel = 0; channel < 3; channel++) rows[at + channel] = mix(seed, channel, x, y);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(size, 0);
  head.writeUInt32BE(size, 4);
  head.set([8, 2, 0, 0, 0], 8); // 8 bits, RGB
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function mix(seed: Buffer, channel: number, x: number, y: number): number {
  const [from = 0, to = 255] = [seed[channel], seed[channel + 3]];
  return Math.round(from + ((to - from) * (x + y)) / (2 * size));
}

function chunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(named), 4);
  return Buffer.concat([frame.subarray(0, 4), named, frame.subarray(4)]);
}

const sampleRate = 16_000;
const toneSeconds = 0.12;
const maxSpokenWords = 200; // words

/** Writes a WAV recording with a tone for each word. Source: Microsoft, "Multimedia Programming Interface". */
export function playWav(words: readonly string[]): Buffer {
  const perTone = Math.floor(sampleRate * toneSeconds);
  const heard = words.slice(0, maxSpokenWords);
  const samples = Buffer.alloc(heard.length * perTone * 2);
  heard.forEach((word, index) => {
    const pitch = 220 + (word.length % 12) * 40;
    for (let at = 0; at < perTone; at++) {
      const loudness = Math.sin((Math.PI * at) / perTone) * 8_000;
      const value = Math.round(loudness * Math.sin((2 * Math.PI * pitch * at) / sampleRate));
      samples.writeInt16LE(value, (index * perTone + at) * 2);
    }
  });
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples.length, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20); // PCM
  head.writeUInt16LE(1, 22); // channels
  head.writeUInt32LE(sampleRate, 24);
  head.writeUInt32LE(sampleRate * 2, 28);
  head.writeUInt16LE(2, 32);
  head.writeUInt16LE(16, 34); // bits
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples.length, 40);
  return Buffer.concat([head, samples]);
}
