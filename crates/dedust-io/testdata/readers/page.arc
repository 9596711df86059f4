filedesc://page.arc 0.0.0.0 20080430204825 text/plain 77
1 0 test
URL IP-address Archive-date Content-type Archive-length
           

http://a.example/1 192.0.2.7 20080430204825 text/html 46
HTTP/1.1 200 OK
Content-Type: text/html

hi
