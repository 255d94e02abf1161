declare module '*?gzip-base64' {
  const text: string;
  export default text;
}
