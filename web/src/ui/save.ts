/** Files that the page makes. */
import { h, s } from '../dom';

/** Offers a file to the reader. */
export function saveFile(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = h('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** Saves a document as the program writes it. */
export const saveJson = (name: string, document: unknown): void =>
  saveFile(`${name}.json`, JSON.stringify(document, null, 2) + '\n', 'application/json');

/** What a title takes above a drawing. */
export const TITLE_HEIGHT = 28;

/** A drawing under its title, as the text of a file. */
export function svgText(svg: SVGSVGElement, background: string, title: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const { width, height: drawn } = copy.viewBox.baseVal;
  const height = drawn + TITLE_HEIGHT;
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('viewBox', `0 ${-TITLE_HEIGHT} ${width} ${height}`);
  copy.setAttribute('role', 'img');
  for (const element of copy.querySelectorAll('[tabindex], [class], [style], [role]'))
    for (const name of ['tabindex', 'class', 'style', 'role']) element.removeAttribute(name);
  for (const element of copy.querySelectorAll('[data-screen]')) element.remove();
  for (const name of ['class', 'style']) copy.removeAttribute(name);
  copy.prepend(
    s('rect', { y: -TITLE_HEIGHT, width, height, fill: background }),
    s(
      'text',
      { x: 8, y: 18 - TITLE_HEIGHT, 'font-size': Math.max(7, Math.min(14, (1.8 * width) / title.length)), 'font-weight': 600 },
      title,
    ),
  );
  return new XMLSerializer().serializeToString(copy);
}

/** A drawing as a picture, with so many dots a unit. */
export async function pngBlob(svg: string, width: number, height: number, density = 3): Promise<Blob> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image(width, height);
    image.src = url;
    await image.decode();
    const canvas = h('canvas', { width: Math.round(width * density), height: Math.round(height * density) });
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('the picture is too large'))), 'image/png'),
    );
  } finally {
    URL.revokeObjectURL(url);
  }
}
