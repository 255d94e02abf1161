declare module '*?gzip-text' {
  export const text: string;
  export const length: number;
}
