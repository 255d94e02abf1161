/** Files that the page makes. */
import { h } from '../dom';

/** Offers a file to the reader. */
export function saveFile(name: string, content: BlobPart, type: string): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = h('a', { href: url, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** A drawing as the text of a file. */
export function svgText(svg: SVGSVGElement, background: string): string {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const { width, height } = copy.viewBox.baseVal;
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('role', 'img');
  for (const element of copy.querySelectorAll('[tabindex], [class], [style], [role]'))
    for (const name of ['tabindex', 'class', 'style', 'role']) element.removeAttribute(name);
  for (const element of copy.querySelectorAll('[data-screen]')) element.remove();
  copy.removeAttribute('class');
  const sheet = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  for (const [name, value] of Object.entries({ width, height, fill: background })) sheet.setAttribute(name, String(value));
  copy.prepend(sheet);
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
