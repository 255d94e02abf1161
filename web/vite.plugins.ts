import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { gzipAsync } from '@gfx/zopfli';
import type { Plugin } from 'vite';
import { encode91 } from './src/core/base91.ts';

const SUFFIX = '?gzip-text';

/** `import { text, length } from 'file?gzip-text'`: the file compressed, as text, and its bytes; none where there is no file. */
export function gzipText(): Plugin {
  return {
    name: 'gzip-text',
    enforce: 'pre',
    async load(id) {
      if (!id.endsWith(SUFFIX)) return null;
      const file = id.slice(0, -SUFFIX.length);
      this.addWatchFile(file);
      const bytes = existsSync(file) ? await gzipAsync(readFileSync(file), { numiterations: 15 }) : [];
      return `export const text = ${JSON.stringify(encode91(Uint8Array.from(bytes)))}, length = ${bytes.length};`;
    },
  };
}

const hash = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;

/** What the page may do: run the script and style that are in it, and nothing else. */
const policy = (script: string, style: string) =>
  [
    "default-src 'none'",
    `script-src ${hash(script)} 'wasm-unsafe-eval'`,
    `style-src ${hash(style)}`,
    'worker-src blob:',
    'img-src data: blob:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');

/**
 * Puts script and style into the page, under a policy that names them by their hashes: one file, `page.html`. The script stands
 * after the data and before the arrays, and runs while those still load.
 */
export function singleFile(): Plugin {
  return {
    name: 'single-file',
    apply: 'build',
    enforce: 'post',
    generateBundle(_, bundle) {
      let script = '';
      let style = '';
      let html = '';
      for (const [name, output] of Object.entries(bundle)) {
        if (output.type === 'chunk') script += output.code;
        else if (name.endsWith('.css')) style += String(output.source);
        else if (name.endsWith('.html')) html = String(output.source);
        else this.error(`${name} cannot be in a page of one file`);
        delete bundle[name];
      }
      script = script
        .trim()
        .replace(/<\/script/gi, '<\\/script')
        .replace(/<!--/g, '<\\!--');
      style = style.trim();
      const page = html
        .replace(/\s*<script type="module"[^>]*><\/script>/, '')
        .replace(/\s*<link rel="stylesheet"[^>]*>/, '')
        .replace('<!-- policy -->', () => `<meta http-equiv="Content-Security-Policy" content="${policy(script, style)}">`)
        .replace('<!-- style -->', () => `<style>${style}</style>`)
        .replace('<!-- script -->', () => `<script>${script}</script>`);
      if (/<!-- (policy|style|script) -->/.test(page)) this.error('a place in index.html is left');
      this.emitFile({ type: 'asset', fileName: 'page.html', source: page });
    },
  };
}
